"""Which versions of the hosts the end-to-end tests run."""

from __future__ import annotations

from pathlib import Path

_NEWEST = Path(__file__).parent / "hosts"

PINS = {"newest": _NEWEST / "package.json", "oldest": _NEWEST / "oldest" / "package.json"}
"""The npm manifest of each choice of ``--e2e-hosts``."""
