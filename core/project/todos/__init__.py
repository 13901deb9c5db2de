"""Durable file todos: canonical names, scanning, creation, journalled transitions, recovery."""
