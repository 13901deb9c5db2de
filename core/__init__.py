"""The host-independent core. It imports nothing from ``hindnote.hosts``."""
