"""The two operations on history: their parameters and results."""
