"""Decode a session file of Pi: its rows, their tree, and the active branch."""
