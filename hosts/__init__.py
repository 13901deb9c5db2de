"""The hosts that ship with hindnote. They get no door that others lack."""
