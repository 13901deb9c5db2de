"""Paths of Claude Code's sessions.

``<config dir>/projects/<folder>/<session id>.jsonl`` is a session; its subagents are in ``<session
id>/subagents/agent-<agent id>.jsonl`` next to it, and those of a workflow in ``<session
id>/subagents/workflows/<workflow id>/``. The folder's name is derived from a directory by a lossy
rule, so it is never converted back.
"""

from __future__ import annotations

import os
from glob import escape
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hindnote.core.plugins.models import HostCall

HOST = "claude"
TOOL_PREFIX = "mcp__hindnote__"
"""Claude Code prefixes a mod's tools with the mod's name."""


def config_dir(call: HostCall) -> Path:
    """Return the host's configuration directory for a call.

    A call bound to another host has that host's directory, so the default of the environment is
    returned.
    """
    if call.host == HOST and call.config_dir is not None:
        return call.config_dir
    return usual_config_dir()


def usual_config_dir() -> Path:
    """Return the default configuration directory of this environment."""
    named = os.environ.get("CLAUDE_CONFIG_DIR")
    return Path(named) if named else Path.home() / ".claude"


def session_file(call: HostCall) -> Path | None:
    """Return the file of the session that a call belongs to; it need not exist yet.

    For a subagent this is its own file, next to the main session's.
    """
    main = _main_file(call)
    if main is None or call.agent_id is None:
        return main
    if not _is_name(call.agent_id):
        return None
    folder, name = main.with_suffix("") / "subagents", f"agent-{call.agent_id}.jsonl"
    direct = folder / name
    if direct.exists():
        return direct
    # A workflow's subagents are in a separate folder.
    return max(folder.glob(f"*/*/{escape(name)}"), key=_modified, default=direct)


def _main_file(call: HostCall) -> Path | None:
    if call.session_file is not None:
        return call.cwd / call.session_file
    if call.session_id is None or not _is_name(call.session_id):
        return None
    found = (config_dir(call) / "projects").glob(f"*/{escape(call.session_id)}.jsonl")
    return max(found, key=_modified, default=None)


def _is_name(value: str) -> bool:
    """Return whether an id is safe as a file name, so that it cannot lead to another folder."""
    return value not in ("", ".", "..") and not any(char in value for char in "/\\\0")


def _modified(file: Path) -> float:
    try:
        return file.stat().st_mtime
    except OSError:
        return 0.0
