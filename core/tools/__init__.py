"""What a tool is: its parameters, its outcome, its JSON schema, and the list of all tools."""
