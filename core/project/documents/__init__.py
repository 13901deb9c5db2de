"""The documents of a project: read, index, search and describe them."""
