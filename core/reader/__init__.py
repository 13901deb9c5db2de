"""Sessions as a person reads them: lists, pages, and what a terminal, a browser or a file shows."""
