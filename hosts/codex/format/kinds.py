"""Classify a row: the kind of its slot, and the outcome of a call that it records.

Whether a row takes a slot depends only on its types and its role. Whether a message with the role
``user`` is a person's depends on its content, because Codex writes its own notices with that role
too.
"""

from __future__ import annotations

import re

import msgspec

from hindnote.hosting import SlotKind, shaped
from hindnote.hosts.codex.format.rows import Payload, Row

RESPONSE, EVENT, COMPACTED, META = "response_item", "event_msg", "compacted", "session_meta"
USAGE = "token_usage_record"
"""Type of a row that Codex writes after each answer of the model, since about 0.160."""

MESSAGE = "message"

# Plain integers, because reading a member of an IntEnum is slow.
NOTHING, USER, ASSISTANT = int(SlotKind.NOTHING), int(SlotKind.USER), int(SlotKind.ASSISTANT)
CALL, RESULT = int(SlotKind.CALL), int(SlotKind.RESULT)
COMMAND, CONTEXT = int(SlotKind.COMMAND), int(SlotKind.CONTEXT)

KINDS = {
    "function_call": CALL,
    "custom_tool_call": CALL,
    "local_shell_call": CALL,
    "tool_search_call": CALL,
    "function_call_output": RESULT,
    "custom_tool_call_output": RESULT,
    "local_shell_call_output": RESULT,
    "tool_search_output": RESULT,
    # The model's provider ran these calls: one row contains the call and its outcome.
    "web_search_call": COMMAND,
    "image_generation_call": COMMAND,
    # A message from one agent to another.
    "agent_message": CONTEXT,
}
"""Kind of slot by type of response item, except messages. Other types take no slot."""

NAMELESS = {
    "local_shell_call": "local_shell",
    "tool_search_call": "tool_search",
    "web_search_call": "web_search",
    "image_generation_call": "image_generation",
}
"""Name of the tool by type of call, for calls without a tool name."""

BY_HAND = "shell.user_command"
"""Content kind of a message about a command that the person ran."""

_NOTICE = re.compile(
    r"\s*(?:<(environment_context|user_instructions|turn_aborted|subagent_notification|"
    r"user_shell_command|permissions instructions|collaboration_mode|skill|skills_instructions|"
    r"apps_instructions|plugins_instructions|model_switch|personality_spec|realtime_conversation|"
    r"goal_context|hook_prompt|INSTRUCTIONS)[ >]|# AGENTS\.md instructions for )"
)
"""Matches the beginning of Codex's own messages with the person's role, for versions without
content kinds."""


class Part(msgspec.Struct, gc=False):
    """The fields of a message's part that classify the message."""

    type: str = ""
    text: str = ""


def kind_of(row: Row) -> int | None:
    """Return the kind of slot that a row takes; None when it takes none."""
    payload = row.payload
    if row.type == RESPONSE:
        if payload.type != MESSAGE:
            return KINDS.get(payload.type)
        if payload.role == "assistant":
            return ASSISTANT if _has_text(payload) else NOTHING
        # Messages of the role ``developer`` are never shown to a person.
        return said_by_user(payload) if payload.role == "user" else None
    return CONTEXT if row.type == COMPACTED else None


def said_by_user(payload: Payload) -> int:
    """Return whether a message with the person's role is the person's own, as a kind of slot."""
    told = payload.internal_chat_message_metadata_passthrough
    kinds = told.content_item_kinds if told is not None else None
    if kinds and any(kind != "unknown" for kind in kinds):
        if any(kind.startswith("user.") for kind in kinds):
            return USER
        return COMMAND if BY_HAND in kinds else CONTEXT
    for part in shaped(payload.content, list[Part]) or ():
        if part.text:
            found = _NOTICE.match(part.text)
            if found is None:
                return USER
            return COMMAND if found[1] == "user_shell_command" else CONTEXT
    return USER


def _has_text(payload: Payload) -> bool:
    parts = shaped(payload.content, list[Part])
    if parts is None:
        return bool(shaped(payload.content, str))
    return any(part.text or part.type not in ("output_text", "text") for part in parts)


def tool_of(payload: Payload) -> str:
    """Return the tool's name of a call, or of a command that the provider ran."""
    name = payload.name or NAMELESS.get(payload.type, "")
    # Older versions write server and tool as one name.
    return f"{payload.namespace}__{name}" if payload.namespace else name


FAILED = {"failed": True, "declined": True, "completed": False}
"""Whether a call failed, by the status of its item."""


def outcome_of(payload: Payload) -> tuple[str, bool] | None:
    """Return the id of a call and whether it failed; None for an event without an outcome."""
    if payload.type == "item_completed":
        item = payload.item
        if item is None or item.status not in FAILED or not item.id:
            return None
        return item.id, FAILED[item.status]
    if not payload.call_id:
        return None
    if payload.type == "exec_command_end" and payload.exit_code is not None:
        return payload.call_id, payload.exit_code != 0
    if payload.type == "patch_apply_end" and payload.success is not None:
        return payload.call_id, not payload.success
    if payload.type == "mcp_tool_call_end":
        return payload.call_id, _mcp_failed(payload.result)
    return None


class _McpResult(msgspec.Struct, gc=False):
    Ok: dict[str, msgspec.Raw] | None = None


def _mcp_failed(result: msgspec.Raw) -> bool:
    found = shaped(result, _McpResult)
    if found is None or found.Ok is None:
        return True
    return any(bytes(found.Ok.get(key, b"")) == b"true" for key in ("is_error", "isError"))
