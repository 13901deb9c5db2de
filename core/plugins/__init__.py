"""The hosts' plugins: what crosses the border to one, how they are loaded, and how they are asked."""
