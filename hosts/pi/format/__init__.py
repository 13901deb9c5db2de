"""The format of Pi's session files: only this package uses its field names."""
