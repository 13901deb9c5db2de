"""What hindnote adds to the first request of a session, in bytes of compact JSON."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from model import Request

from hindnote.core.places.project import project_key
from hindnote.core.tools.registry import NAMES

BOOT_HEADING = "# Memory beyond this window"


def compact(value: object) -> int:
    """Return the bytes of a value as compact JSON in UTF-8."""
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())


@dataclass(frozen=True)
class Cost:
    """The bytes that one host in one mode sends for hindnote."""

    declarations: int
    """The declarations of the seven operations."""

    added: int
    """All that the request has more than the same request without hindnote."""

    boot: int
    """The boot block of an empty memory, part of ``added``."""


def cost(without: Request, request: Request, directory: Path, prefix: str = "") -> Cost:
    """Return what hindnote adds to a request, as if it came from the directory ``/w/p``."""
    block = boot_block(request)
    spared = len(block) - len(as_in("/w/p", block, directory))
    ours = {prefix + name for name in NAMES}
    return Cost(
        declarations=sum(compact(tool) for tool in _tools(request) if tool["name"] in ours),
        added=compact(_sent(request)) - compact(_sent(without)) - spared,
        boot=len(block.encode()) - spared,
    )


def boot_block(request: Request) -> str:
    """Return the boot block as it was sent; empty without one."""
    for text in _texts(request.body["messages"]):
        if BOOT_HEADING in text:
            block = text[text.index(BOOT_HEADING) :]
            # Claude Code puts words of its own behind it, in the same reminder.
            return re.split(r"\n(?:# |</system-reminder>|This is ambient context)", block)[
                0
            ].rstrip()
    return ""


def as_in(place: str, block: str, directory: Path) -> str:
    """Return a boot block as it would be in another directory; a test's own has a long name."""
    key, name = project_key(directory), place.rpartition("/")[2]
    return block.replace(str(directory), place).replace(key, f"{name}-{key[-8:]}")


def _tools(request: Request) -> list[dict[str, Any]]:
    return request.body.get("tools", [])


def _sent(request: Request) -> dict[str, Any]:
    return {name: request.body.get(name) for name in ("system", "tools", "messages")}


def _texts(messages: list[dict[str, Any]]) -> list[str]:
    contents = [message["content"] for message in messages]
    return [
        part.get("text", "")
        for content in contents
        for part in ([{"text": content}] if isinstance(content, str) else content)
    ]


BEFORE = {
    "Pi, without codemode": (6_399, 519, 7_592),
    "Pi, with codemode": (7_551, 519, 17_640),
    "Pi, with codemode alone": (0, 519, 9_514),
    "Claude Code": (6_259, 477, 7_470),
}
"""Declarations, boot block and all that was added, at the commit before they were shortened."""


def row(host: str, cost: Cost) -> str:
    """Return a line of the table in ``docs/performance.md``: each figure as it was and is."""
    now = (cost.declarations, cost.boot, cost.added)
    pairs = zip(BEFORE[host], now, strict=True)
    return f"| {host} | {' | '.join(f'{then:,} | {size:,}' for then, size in pairs)} |"
