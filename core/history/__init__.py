"""History: a query view over the session files that hosts write."""
