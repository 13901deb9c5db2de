"""Check an installation, a notes home and recorded sessions for problems."""

from hindnote.core.doctor.findings import Finding

__all__ = ["Finding"]
