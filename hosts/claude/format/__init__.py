"""What Claude Code writes into a transcript: the one place that knows its fields by name."""
