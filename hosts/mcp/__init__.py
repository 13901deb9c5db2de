"""The host for every program that speaks the Model Context Protocol."""
