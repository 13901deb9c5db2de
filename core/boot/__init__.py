"""The boot block: what a session's first request says of its memory."""
