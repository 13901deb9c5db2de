"""Files of journals as a test wants them."""

from __future__ import annotations

import json
from typing import Any

from hindnote.core.project.state import digest


def sealed(told: dict[str, Any]) -> bytes:
    """Return what a journal's file holds, whatever the journal tells."""
    plain = json.dumps(told, separators=(",", ":"), ensure_ascii=False).encode()
    return json.dumps({"journal": told, "seal": digest(plain)}).encode()
