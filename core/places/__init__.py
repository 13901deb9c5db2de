"""The places of a call: its directory, its project and the notes home, and trust in that home."""
