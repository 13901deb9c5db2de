"""Pi's own tool results as structure that a viewer can draw."""
