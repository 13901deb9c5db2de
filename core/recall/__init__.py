"""Ranked search: words, an index of numbers, and the formula. It knows no host and no session format."""
