"""What a transcript of Claude Code holds: its rows, their tree, and the branch that counts."""
