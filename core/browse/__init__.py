"""``hindnote browse``: sessions, notes and documents as local web pages, read only."""
