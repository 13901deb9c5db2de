"""Project tools v1: document search, field catalogue and durable file todos."""
