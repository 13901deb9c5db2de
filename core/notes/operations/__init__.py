"""The five operations on notes: their parameters and results."""
