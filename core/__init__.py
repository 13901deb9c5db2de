"""The host-neutral core. It imports nothing from ``hindnote.hosts``."""
