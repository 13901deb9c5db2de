"""How much of a result is delivered: the bounds of an answer, and windows on a long text."""
