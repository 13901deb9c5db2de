"""Durable file todos: canonical names, scanning, creation, journaled transitions, recovery."""
