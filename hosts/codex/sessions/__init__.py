"""Sessions of Codex: their files, what they inherit, and their catalogue."""
