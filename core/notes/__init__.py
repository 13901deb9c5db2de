"""Notes: how they lie in files, and the five operations on them."""
