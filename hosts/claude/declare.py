"""Writes ``mod/hooks/tools.ts`` from the operations' declarations.

Run ``python -m hindnote.hosts.claude.declare`` after a change of an operation's
description or parameters; a test compares the file with what this module makes.
"""

from __future__ import annotations

import json
from pathlib import Path

from hindnote.core.declarations import declaration
from hindnote.core.registry import READING, Registry, registry
from hindnote.hosts.claude.layout import TOOL_PREFIX

FILE = Path(__file__).parent / "mod" / "hooks" / "tools.ts"

_FRAME = """\
/** The seven tools, generated from hindnote's operations; never written by hand. */
import type {{ ToolSpec }} from 'claude-code'

/** What stands before a tool's name as the model sees it. */
export const TOOL_PREFIX = {prefix}

/** The operations that only look, and so may run twice. */
export const READING: readonly string[] = {reading}

export const TOOLS: readonly ToolSpec[] = {tools}
"""


def module(operations: Registry) -> str:
    """Return the TypeScript module that declares these operations."""
    tools = []
    for operation in operations.values():
        declared = declaration(operation)
        tools.append({name: declared[name] for name in ("name", "description", "inputSchema")})
    reading = [name for name in operations if name in READING]
    return _FRAME.format(prefix=_ts(TOOL_PREFIX), reading=_ts(reading), tools=_ts(tools))


def _ts(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


if __name__ == "__main__":
    FILE.write_text(module(registry()), encoding="utf-8")
