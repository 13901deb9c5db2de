"""Notes: how they are stored in files, and the five operations on them."""
