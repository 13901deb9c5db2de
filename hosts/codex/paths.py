"""Where Codex keeps its sessions and its configuration, and how their files are named.

Seen with codex-cli 0.171.0: ``sessions/YYYY/MM/DD/rollout-<local time>-<thread id>.jsonl`` below
Codex's home, and ``archived_sessions/`` with the same names. A thread whose turns were taken back
goes on in a file of its own, ``…-<thread id>_<rollout id>.jsonl``. Cold ones end in ``.zst``.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from hindnote.hosting import HostCall

HOST = "codex"

SERVER = "hindnote"
"""What the MCP server is called in Codex's configuration."""

TOOL_PREFIX = f"mcp__{SERVER}__"
"""What stands before our tools' names in a rollout."""

PACKED = ".zst"

SESSIONS, ARCHIVED = "sessions", "archived_sessions"

_UUID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_NAMED = re.compile(
    rf"rollout-\d{{4}}-\d\d-\d\dT\d\d-\d\d-\d\d-({_UUID})(?:_({_UUID}))?\.jsonl(?:\.zst)?"
)


class Name(NamedTuple):
    """What the name of a rollout says."""

    thread: str
    rollout: str
    """The thread's own id for its first file."""


def named(file: str) -> Name | None:
    """Return what a file's bare name says; None when it is none of Codex's."""
    found = _NAMED.fullmatch(file)
    return Name(found[1], found[2] or found[1]) if found else None


def codex_home(call: HostCall | None = None) -> Path:
    """Return Codex's home: the call's, else ``CODEX_HOME``, else ``~/.codex``."""
    if call is not None and call.host == HOST and call.config_dir is not None:
        return call.config_dir
    return Path(os.environ.get("CODEX_HOME") or "~/.codex").expanduser().absolute()


def home_of(file: Path) -> Path | None:
    """Return the home in which a rollout lies; None when it lies elsewhere."""
    for folder in file.parents:
        if folder.name in (SESSIONS, ARCHIVED):
            return folder.parent
    return None
