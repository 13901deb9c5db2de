"""History: the session files that hosts write, and the two operations that read them."""
