"""What Pi writes into a session file: the one place that knows its fields by name."""
