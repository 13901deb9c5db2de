"""What the rows of a transcript count as in the history: slots and their kinds.

A row takes one slot for each of its content blocks, and at least one. That number
depends on nothing that anyone reads in a text; only the kinds do.
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
"""How the record of a command that the person gave to the program itself begins."""

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
"""Attachments by which the model read a file, or a part of one."""

NOTIFICATION_ATTACHMENTS = frozenset({"async_hook_response", "task_status"})
CONTEXT_SUBTYPES = frozenset({"api_error", "local_command"})
SYNTHETIC = "<synthetic>"
"""The model's name on rows that the program made."""

SPEAKERS = frozenset({"user", "assistant"})
"""Types of the rows whose blocks have slots of their own."""

# Members of an IntEnum cost a look-up each time; these are plain integers.
NOTHING = int(SlotKind.NOTHING)
USER = int(SlotKind.USER)
ASSISTANT = int(SlotKind.ASSISTANT)
CALL = int(SlotKind.CALL)
RESULT = int(SlotKind.RESULT)
CONTEXT = int(SlotKind.CONTEXT)

_ONE = [bytes([kind]) for kind in range(max(SlotKind) + 1)]
"""The slots of a row that has one, by its kind."""


def kinds_of(row: Row) -> bytes:
    """Return what each slot of a chain row holds, one for each content block.

    An answer's text blocks all count as ``ASSISTANT`` here; which of them speaks for
    the whole response is known only beside the response's other rows.
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
    """Return the words of a prompt that joined a running turn, where a queue's row records them.

    Versions before 2.1.101 took such a prompt out of the queue (``remove``) and wrote it
    nowhere else. Later ones write an attachment with the words, and a ``reason`` here.
    """
    if row.operation != "remove" or row.reason is not UNSET or row.content is UNSET:
        return None
    return _string(row.content)


def prompted(row: Row) -> str | None:
    """Return the words of a prompt that a row of the conversation records; None for any other."""
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
    """Return a JSON string's text, of a list of text blocks that of all; else None."""
    try:
        if bytes(memoryview(raw)[:1]) == b"[":
            blocks = msgspec.json.decode(raw, type=list[Block])
            return "\n".join(filter(None, (_string(b.text) for b in blocks if b.text is not UNSET)))
        return msgspec.json.decode(raw, type=str)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None


def counts_of(rows: Sequence[Row]) -> list[int]:
    """Return how many slots each of some chain rows takes."""
    contents = [None if row.message is None else row.message.content for row in rows]
    counts = [len(content) or 1 if type(content) is list else 1 for content in contents]
    if max(counts, default=1) > 1:
        counts = [
            count if row.type in SPEAKERS else 1 for row, count in zip(rows, counts, strict=True)
        ]
    return counts


def _is_foreign(row: Row) -> bool:
    """Return whether the program made this assistant row, and not the model."""
    made = row.message is not None and row.message.model == SYNTHETIC
    return made or row.is_api_error_message


def has_text(block: Block) -> bool:
    """Return whether a text block holds any text, without decoding it."""
    if block.text is UNSET:
        return False
    size = memoryview(block.text).nbytes
    return size > len(b"null") or (size > len(b'""') and bytes(block.text)[:1] == b'"')


THOUGHTS = frozenset({"thinking", "redacted_thinking"})
"""Blocks of an answer that are part of no document."""


def is_result(type_: str) -> bool:
    """Return whether blocks of a type hold what a tool gave back.

    ``advisor_tool_result``, ``web_search_tool_result`` and their like are the results of
    tools that ran where the model runs, and lie in the answer beside their calls.
    """
    return type_ == "tool_result" or type_.endswith("_tool_result")


def speaks(block: Block) -> bool:
    """Return whether a block of an answer has anything to show: a text, or a name in its place."""
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
    """Return the slots of a row with blocks: each result its own, the rest one event."""
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
    """Return what the text of a row counts as."""
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
    """Return whether a prompt is a task's report and not a person's."""
    return origin is not None and origin.kind == "task-notification"


def _is_from_coordinator(origin: Origin | None) -> bool:
    """Return whether a row is a further prompt of the agent that started this subagent."""
    return origin is not None and origin.kind == "coordinator"


def attached(row: Row) -> int:
    """Return what an attachment counts as: a queued prompt, or what the model read."""
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
            # Every mark is ASCII and short, so a cut in mid-character does no harm.
            return bytes(block.text)[1:200].decode("utf-8", "replace")
    return ""
