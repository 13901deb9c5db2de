"""The versions of the protocol, and the content of messages in each.

The specification of each version is at modelcontextprotocol.io/specification/VERSION. Until
2025-11-25 a program begins with ``initialize``, and the version agreed on applies to all later
messages. Since 2026-07-28 there is no such request: each request contains its version in
``_meta``.
"""

from __future__ import annotations

from typing import Any

HANDSHAKE = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
"""Versions that are agreed on with ``initialize``, oldest first."""

STATELESS = ("2026-07-28",)
"""Versions that each request names."""

BATCHES = ("2025-03-26",)
"""The only version in which a line may contain several messages."""

_ANNOTATIONS = "2025-03-26"
"""First version with tool annotations."""

_STRUCTURE = "2025-06-18"
"""First version with titles, output schemas and structured results."""

VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
SERVER_KEY = "io.modelcontextprotocol/serverInfo"

INSTRUCTIONS = (
    "Notes that outlive this context, and the history of past sessions. Before you start, look "
    "with notes_list at what was kept for this project, for the person and for yourself."
)


def agreed(asked: str) -> str:
    """Return the version to agree on when a program asks for one."""
    return asked if asked in HANDSHAKE else HANDSHAKE[-1]


def greeting(version: str, server_version: str) -> dict[str, Any]:
    """Return the result of ``initialize``."""
    return {
        "protocolVersion": version,
        "capabilities": {"tools": {}},
        "serverInfo": server_info(version, server_version),
        "instructions": INSTRUCTIONS,
    }


def discovery() -> dict[str, Any]:
    """Return the result of ``server/discover``."""
    return {
        "supportedVersions": list(STATELESS),
        "capabilities": {"tools": {}},
        "instructions": INSTRUCTIONS,
        **_UNCACHED,
    }


_UNCACHED = {"ttlMs": 0, "cacheScope": "private"}


def server_info(version: str, server_version: str) -> dict[str, Any]:
    """Return the server's name and version."""
    info = {"name": "hindnote", "version": server_version}
    return info if version < _STRUCTURE else {**info, "title": "hindnote"}


def tool_list(version: str, declared: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the result of ``tools/list``.

    Args:
        version: The version of the answer.
        declared: The tools as ``hindnote schemas`` prints them.
    """
    tools = {"tools": [_tool(version, one) for one in declared]}
    return tools if version in HANDSHAKE else {**tools, **_UNCACHED}


def _tool(version: str, declared: dict[str, Any]) -> dict[str, Any]:
    tool = {name: declared[name] for name in ("name", "description", "inputSchema")}
    if version >= _ANNOTATIONS:
        hints = declared["hints"]
        tool["annotations"] = {
            "title": declared["title"],
            "readOnlyHint": hints["readOnly"],
            "destructiveHint": hints["destructive"],
            "idempotentHint": hints["idempotent"],
            # All data is on this machine.
            "openWorldHint": False,
        }
    if version >= _STRUCTURE:
        tool["title"] = declared["title"]
        tool["outputSchema"] = declared["outputSchema"]
    return tool


def tool_result(version: str, text: str, structure: Any, is_error: bool) -> dict[str, Any]:
    """Return the result of ``tools/call``.

    Args:
        version: The version of the answer.
        text: The text for the model.
        structure: The structured content; None when there is only a text.
        is_error: Whether the call was refused, or its arguments were invalid.
    """
    told: dict[str, Any] = {"content": [{"type": "text", "text": text}], "isError": is_error}
    if structure is not None and version >= _STRUCTURE:
        told["structuredContent"] = structure
    return told


def stamped(version: str, result: dict[str, Any], server_version: str) -> dict[str, Any]:
    """Return a result with the fields that its version requires in every result."""
    if version in HANDSHAKE:
        return result
    info = server_info(version, server_version)
    return {**result, "resultType": "complete", "_meta": {SERVER_KEY: info}}
