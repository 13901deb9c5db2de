"""The Pi coding agent as a host."""
