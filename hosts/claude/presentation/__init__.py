"""The results of Claude Code's own tools as structure that a viewer can draw."""
