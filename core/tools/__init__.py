"""What a tool consists of: parameters, outcome and JSON schema; and the list of all tools."""
