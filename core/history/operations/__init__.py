"""The two operations on history: what a call may ask, and what it is told."""
