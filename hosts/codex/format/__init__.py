"""The format of rollouts, Codex's session files. Only this package uses their field names."""
