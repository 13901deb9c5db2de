"""The format of Claude Code's transcripts: only this package uses its field names."""
