"""Project tools v1: document search, field catalog and durable file todos."""
