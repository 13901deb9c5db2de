"""The hosts that ship with hindnote. They use the same interface as any other host plugin."""
