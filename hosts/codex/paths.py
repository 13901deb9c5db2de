"""Paths and names of Codex's sessions and configuration.

Seen with codex-cli 0.171.0: ``sessions/YYYY/MM/DD/rollout-<local time>-<thread id>.jsonl`` below
Codex's home, and ``archived_sessions/`` with the same names. After a rollback a thread continues
in another file, ``…-<thread id>_<rollout id>.jsonl``. Compressed files end in ``.zst``.
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
"""Name of the MCP server in Codex's configuration."""

TOOL_PREFIX = f"mcp__{SERVER}__"
"""Prefix of our tools' names in a rollout."""

PACKED = ".zst"

SESSIONS, ARCHIVED = "sessions", "archived_sessions"

_UUID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_NAMED = re.compile(
    rf"rollout-\d{{4}}-\d\d-\d\dT\d\d-\d\d-\d\d-({_UUID})(?:_({_UUID}))?\.jsonl(?:\.zst)?"
)


class Name(NamedTuple):
    """The parts of a rollout's file name."""

    thread: str
    rollout: str
    """Id of this file; for a thread's first file the thread's id."""


def named(file: str) -> Name | None:
    """Return the parts of a file's name without extension; None when it is not a rollout's."""
    found = _NAMED.fullmatch(file)
    return Name(found[1], found[2] or found[1]) if found else None


def codex_home(call: HostCall | None = None) -> Path:
    """Return Codex's home: that of the call, else ``CODEX_HOME``, else ``~/.codex``."""
    if call is not None and call.host == HOST and call.config_dir is not None:
        return call.config_dir
    return Path(os.environ.get("CODEX_HOME") or "~/.codex").expanduser().absolute()


def home_of(file: Path) -> Path | None:
    """Return the home that contains a rollout; None when the file is not in one."""
    for folder in file.parents:
        if folder.name in (SESSIONS, ARCHIVED):
            return folder.parent
    return None
