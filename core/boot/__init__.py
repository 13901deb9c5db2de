"""The boot block: the text about its memory that a session gets with its first request."""
