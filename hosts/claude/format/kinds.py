"""The slots that rows of a transcript take in the history, and their kinds.

A row takes one slot for each of its content blocks, and at least one. The number of slots never
depends on the content of a text; only the kinds do.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec import UNSET, Raw

from hindnote.core.history.projection import SlotKind
from hindnote.hosts.claude.format.rows import QUEUE, Attachment, Block, Origin, Row

COMMAND_MARKS = (
    "<command-name>",
    "<command-message>",
    "<command-args>",
    "<local-command-stdout>",
    "<local-command-stderr>",
    "<bash-input>",
    "<bash-stdout>",
    "<bash-stderr>",
)
"""Prefixes of the records of commands that a person gave to the program itself."""

INTERRUPT_MARK = "[Request interrupted by user"
NOTIFICATION_MARK = "<task-notification>"
CONTEXT_MARKS = (*COMMAND_MARKS, INTERRUPT_MARK, NOTIFICATION_MARK)

FILE_ATTACHMENTS = frozenset(
    {
        "already_read_file",
        "compact_file_reference",
        "directory",
        "edited_image_file",
        "edited_text_file",
        "file",
        "mcp_resource",
        "nested_memory",
        "opened_file_in_ide",
        "pdf_reference",
        "selected_lines_in_ide",
    }
)
"""Attachments through which the model read a file or a part of one."""

NOTIFICATION_ATTACHMENTS = frozenset({"async_hook_response", "task_status"})
CONTEXT_SUBTYPES = frozenset({"api_error", "local_command"})
SYNTHETIC = "<synthetic>"
"""Model name on rows that the program generated."""

SPEAKERS = frozenset({"user", "assistant"})
"""Types of rows whose blocks have their own slots."""

# Plain integers, since looking up a member of an IntEnum takes time.
NOTHING = int(SlotKind.NOTHING)
USER = int(SlotKind.USER)
ASSISTANT = int(SlotKind.ASSISTANT)
CALL = int(SlotKind.CALL)
RESULT = int(SlotKind.RESULT)
CONTEXT = int(SlotKind.CONTEXT)

_ONE = [bytes([kind]) for kind in range(max(SlotKind) + 1)]
"""The slot of a row with a single slot, by kind."""


def kinds_of(row: Row) -> bytes:
    """Return the kind of each slot of a conversation row, one for each content block.

    All text blocks of an answer are ``ASSISTANT`` here. Which of them represents the whole
    response depends on the response's other rows.
    """
    content = row.message.content if row.message else None
    if type(content) is not list or not content:
        if row.type == "assistant" and content and not _is_foreign(row):
            return _ONE[ASSISTANT]
        return _ONE[_spoken(row)]
    if row.type == "assistant":
        if _is_foreign(row):
            return _ONE[_spoken(row)] + bytes(len(content) - 1)
        if len(content) == 1:
            return _ONE[_answer_kind(content[0])]
        return bytes(map(_answer_kind, content))
    if row.type != "user":
        return _ONE[_spoken(row)]
    if len(content) == 1 and is_result(content[0].type) and content[0].tool_use_id:
        return _ONE[RESULT]
    return _user_kinds(row, content)


def steering(row: Row) -> str | None:
    """Return the prompt that joined a running turn, if a queue row is its only record.

    Versions before 2.1.101 took such a prompt out of the queue (``remove``) and recorded it
    nowhere else. Later versions write an attachment with the prompt, and a ``reason`` here.
    """
    if row.operation != "remove" or row.reason is not UNSET or row.content is UNSET:
        return None
    return _string(row.content)


def prompted(row: Row) -> str | None:
    """Return the text of a prompt that a conversation row records; None for other rows."""
    if row.type == "attachment":
        attachment = row.attachment or Attachment()
        if attachment.type != "queued_command" or attachment.prompt is UNSET:
            return None
        return _string(attachment.prompt)
    if row.type != "user" or row.is_meta or row.message is None:
        return None
    content = row.message.content
    if isinstance(content, list):
        texts = [_string(block.text) for block in content if block.text is not UNSET]
        return "\n".join(text for text in texts if text) or None
    return content


def _string(raw: Raw) -> str | None:
    """Return the text of a JSON string, or the joined texts of a list of text blocks; else None."""
    try:
        if bytes(memoryview(raw)[:1]) == b"[":
            blocks = msgspec.json.decode(raw, type=list[Block])
            return "\n".join(filter(None, (_string(b.text) for b in blocks if b.text is not UNSET)))
        return msgspec.json.decode(raw, type=str)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None


def counts_of(rows: Sequence[Row]) -> list[int]:
    """Return the number of slots of each conversation row."""
    contents = [None if row.message is None else row.message.content for row in rows]
    counts = [len(content) or 1 if type(content) is list else 1 for content in contents]
    if max(counts, default=1) > 1:
        counts = [
            count if row.type in SPEAKERS else 1 for row, count in zip(rows, counts, strict=True)
        ]
    return counts


def _is_foreign(row: Row) -> bool:
    """Return whether the program generated this assistant row instead of the model."""
    made = row.message is not None and row.message.model == SYNTHETIC
    return made or row.is_api_error_message


def has_text(block: Block) -> bool:
    """Return whether a text block contains any text, without decoding it."""
    if block.text is UNSET:
        return False
    size = memoryview(block.text).nbytes
    return size > len(b"null") or (size > len(b'""') and bytes(block.text)[:1] == b'"')


THOUGHTS = frozenset({"thinking", "redacted_thinking"})
"""Types of answer blocks that are not part of a document."""


def is_result(type_: str) -> bool:
    """Return whether a block type is a tool result.

    ``advisor_tool_result``, ``web_search_tool_result`` and similar are results of tools that ran
    on the API's side; they are in the same answer as their calls.
    """
    return type_ == "tool_result" or type_.endswith("_tool_result")


def speaks(block: Block) -> bool:
    """Return whether a block of an answer has a text, or a type name to show in its place."""
    return has_text(block) if block.type == "text" else block.type not in THOUGHTS


def _answer_kind(block: Block) -> int:
    type_ = block.type
    if type_ == "text":
        return ASSISTANT
    if type_.endswith("tool_use") and block.id:
        # tool_use, server_tool_use, mcp_tool_use
        return CALL
    if is_result(type_) and block.tool_use_id:
        return RESULT
    return NOTHING if type_ in THOUGHTS or not type_ else ASSISTANT


def _user_kinds(row: Row, blocks: list[Block]) -> bytes:
    """Return the slots of a row with blocks: one per result, and one event for all the rest."""
    found = bytearray()
    rest = _spoken(row)
    for block in blocks:
        if is_result(block.type) and block.tool_use_id:
            found.append(RESULT)
        else:
            found.append(rest)
            rest = NOTHING
    return bytes(found)


def _spoken(row: Row) -> int:
    """Return the kind of slot for the text of a row."""
    if row.type == "system":
        return CONTEXT if row.subtype in CONTEXT_SUBTYPES else NOTHING
    if row.type == "assistant":
        return CONTEXT if row.is_api_error_message else NOTHING
    if row.type == "attachment":
        return attached(row)
    if row.type == QUEUE:
        return USER
    if row.is_compact_summary:
        return CONTEXT
    if row.is_meta:
        return USER if _is_from_coordinator(row.origin) else NOTHING
    if is_notification(row.origin) or _opening(row).startswith(CONTEXT_MARKS):
        return CONTEXT
    return USER if row.message and row.message.content else NOTHING


def is_notification(origin: Origin | None) -> bool:
    """Return whether a prompt is a task's report instead of a person's prompt."""
    return origin is not None and origin.kind == "task-notification"


def _is_from_coordinator(origin: Origin | None) -> bool:
    """Return whether a row is a further prompt from the agent that started this subagent."""
    return origin is not None and origin.kind == "coordinator"


def attached(row: Row) -> int:
    """Return the kind of slot for an attachment: a queued prompt, or a text that the model read."""
    attachment = row.attachment or Attachment()
    if attachment.type == "queued_command":
        reports = attachment.command_mode == "task-notification"
        if reports or is_notification(attachment.origin or row.origin):
            return CONTEXT
        return USER
    if row.rendered is UNSET or memoryview(row.rendered).nbytes <= len(b"null"):
        return NOTHING
    named = attachment.type in FILE_ATTACHMENTS or attachment.type in NOTIFICATION_ATTACHMENTS
    return CONTEXT if named or attachment.type.startswith("hook_") else NOTHING


def _opening(row: Row) -> str:
    """Return the beginning of a user row's text."""
    content = row.message.content if row.message else None
    if isinstance(content, str):
        return content
    for block in content or []:
        if block.type == "text" and block.text is not UNSET:
            # Every mark is ASCII and short, so cutting within a character does no harm.
            return bytes(block.text)[1:200].decode("utf-8", "replace")
    return ""
