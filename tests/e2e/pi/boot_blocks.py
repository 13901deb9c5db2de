"""The boot blocks that a session of Pi holds, and that a request shows."""

from __future__ import annotations

from typing import Any

from model import Request

BOOT = "hindnote-boot"


def blocks(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the boot blocks that a session file holds."""
    return [entry["data"] for entry in entries if entry.get("customType") == BOOT]


def shown(request: Request, text: str) -> int:
    """Return how often a text stands as a message of its own in a request."""
    return sum(
        part.get("text") == text
        for message in request.messages
        for part in message["content"]
        if isinstance(part, dict)
    )
