"""An agent that keeps a logbook, as a hindnote host."""
