"""Show sessions to a person: lists and pages, for a terminal, a browser or a file."""
