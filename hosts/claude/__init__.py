"""Claude Code as a host."""
