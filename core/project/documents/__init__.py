"""The documents of a project: reading, indexing, searching and describing them."""
