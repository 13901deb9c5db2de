"""The demo: real calls on recorded sessions and scratch notes, for a person to read.

``greeting.jsonl`` and ``scripts.jsonl`` were written by Pi while it ran real tools; a scripted
model acted as the agent.
"""
