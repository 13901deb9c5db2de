"""The places of a call: its directory, its project, the notes home, and whether a home is trusted."""
