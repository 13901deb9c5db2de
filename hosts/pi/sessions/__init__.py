"""What a session file of Pi holds: its rows, their tree, and the branch that counts."""
