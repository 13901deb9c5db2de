"""Limit the size of results: the budget of an answer, and reading windows of a long text."""
