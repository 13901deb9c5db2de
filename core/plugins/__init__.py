"""The hosts' plugins: the models passed to them, loading them, and calling them."""
