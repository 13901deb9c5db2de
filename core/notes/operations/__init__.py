"""The five operations on notes: what a call may ask, and what it is told."""
