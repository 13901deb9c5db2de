"""Decode a transcript of Claude Code: its rows, their tree, and the active branch."""
