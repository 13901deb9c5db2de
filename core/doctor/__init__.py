"""What may be wrong with an installation, a notes home and recorded sessions."""

from hindnote.core.doctor.findings import Finding

__all__ = ["Finding"]
