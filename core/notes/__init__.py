"""Notes: addresses, files, edits, search and the five operations."""
