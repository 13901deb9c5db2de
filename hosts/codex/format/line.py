"""Decode the facts of one slot from its line, on demand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Raw, Struct

from hindnote.hosting import (
    SlotFacts,
    SlotKind,
    Unreadable,
    accepted,
    compact,
    nonempty,
    parse,
    placeholder,
    recorded,
    shaped,
)
from hindnote.hosts.codex.format.kinds import COMPACTED, NAMELESS

ADDED_WORDS = ("image", "bytes", "input", "command", "prompt", "shell", *NAMELESS.values())
"""Words that ``facts`` adds to the texts of a file, in placeholders and names of arguments."""

_ENDED = re.compile(r"(?:Process exited with code|Exit code:) (-?\d+)$", re.MULTILINE)
_BY_HAND = re.compile(
    r"\s*<user_shell_command>\n<command>\n(.*?)\n</command>\n<result>\n"
    r"(.*?)^Output:\n(.*)\n</result>\n</user_shell_command>\s*",
    re.DOTALL | re.MULTILINE,
)
_IMAGE = re.compile(rb'"data:(image/[a-z0-9.+-]{1,40});base64,')


class _Payload(Struct, gc=False):
    """Fields accept any type: a value of the wrong type is ignored instead of raising an error."""

    type: Any = None
    id: Any = None
    content: Raw = Raw()
    message: Raw = Raw()
    name: Any = None
    namespace: Any = None
    arguments: Raw = Raw()
    input: Raw = Raw()
    action: Raw = Raw()
    output: Raw = Raw()
    tools: Raw = Raw()
    revised_prompt: Raw = Raw()
    result: Raw = Raw()
    status: Any = None


class _Row(Struct, gc=False):
    timestamp: Any = None
    type: Any = None
    payload: Raw = Raw()


class _Part(Struct, gc=False):
    type: Any = None
    text: Any = None
    image_url: Raw = Raw()


class _Output(Struct, gc=False):
    """An output as older versions write it: a text and whether the call succeeded."""

    content: Raw = Raw()
    success: bool | None = None


def facts_of(line: bytes, kind: SlotKind, failed: bool | None) -> SlotFacts:
    """Return the facts of the slot of a line.

    Args:
        line: A line that the spine accepted.
        kind: The kind of the slot.
        failed: Whether the event with the outcome of a result says that it failed; None without
        such an event.

    Raises:
        msgspec.MsgspecError: The line is not a row.
    """
    row = accepted(line, _Row)
    payload = shaped(row.payload, _Payload) or _Payload()
    common: dict[str, Any] = {
        "created_at": recorded(row.timestamp),
        "entry_id": nonempty(payload.id),
    }
    if kind is SlotKind.CALL:
        return SlotFacts(**common, tool=_tool(payload), arguments=_arguments(payload))
    if kind is SlotKind.RESULT:
        text, told = _output(payload)
        outcome = told if failed is None else failed
        return SlotFacts(**common, text=text, failed=outcome)
    if kind is SlotKind.COMMAND:
        return SlotFacts(**common, **_command(payload))
    if row.type == COMPACTED:
        return SlotFacts(**common, text=shaped(payload.message, str) or "")
    return SlotFacts(**common, text=joined(payload.content))


def joined(content: Raw) -> str:
    """Return a message or an output as text: each part on a line, images as placeholders."""
    if (text := shaped(content, str)) is not None:
        return text
    return "\n".join(_parts(content))


def _parts(content: Raw) -> Iterator[str]:
    for raw in shaped(content, list[Raw]) or ():
        part = shaped(raw, _Part)
        if part is None:
            continue
        if isinstance(part.text, str):
            yield part.text
        elif bytes(part.image_url):
            yield image(part.image_url)
        elif named := nonempty(part.type):
            # A part of an unknown type is replaced by the type's name.
            yield f"[{named}]"


def image(url: Raw) -> str:
    """Return the placeholder for an image."""
    data = bytes(url)
    found = _IMAGE.match(data)
    if found is None:
        return "[image]"
    return placeholder(f"image {found[1].decode()}", Raw(b'"' + data[found.end() :]))


# -- calls -----------------------------------------------------------------------


def _tool(payload: _Payload) -> str | None:
    name = nonempty(payload.name) or NAMELESS.get(payload.type if nonempty(payload.type) else "")
    space = nonempty(payload.namespace)
    return f"{space}__{name or ''}" if space else name


def _arguments(payload: _Payload) -> str:
    """Return a call's input as a JSON object, with its keys and numbers as recorded."""
    if bytes(payload.input):
        return _wrapped("input", payload.input)
    raw = payload.arguments if bytes(payload.arguments) else payload.action
    text = shaped(raw, str)
    # Codex records arguments as the model wrote them: JSON text in a string.
    data = bytes(raw) if text is None else text.encode()
    try:
        if data and isinstance(parse(data), dict):
            return compact(data)
    except Unreadable:
        pass
    return _wrapped("input", raw)


def _wrapped(name: str, raw: Raw) -> str:
    value = bytes(raw)
    try:
        parse(value)
    except Unreadable:
        return "{}"
    return compact(b'{"%s":%s}' % (name.encode(), value))


# -- results ---------------------------------------------------------------------


def _output(payload: _Payload) -> tuple[str, bool | None]:
    """Return a result's text, and whether the text says that the call failed."""
    if bytes(payload.tools):
        return _listed(payload.tools), False if payload.status == "completed" else None
    output = payload.output
    if bytes(output).startswith(b"{"):
        older = shaped(output, _Output) or _Output()
        text = joined(older.content)
        return text, _ended(text) if older.success is None else not older.success
    text = joined(output)
    return text, _ended(text)


def _listed(tools: Raw) -> str:
    try:
        parse(bytes(tools))
    except Unreadable:
        return ""
    return compact(bytes(tools))


def _ended(text: str) -> bool | None:
    """Return whether a command failed, from the lines that Codex writes above its output.

    None for any other text. Before the first ``Output:`` Codex writes only these lines.
    """
    head, found, _ = text.partition("\nOutput:\n")
    if found:
        code = _ENDED.search(head)
        return None if code is None else int(code[1]) != 0
    if text.startswith('{"output":'):
        # Versions of 2025 wrote JSON text.
        try:
            value = parse(text.encode())
        except Unreadable:
            return None
        told = value.get("metadata") if isinstance(value, dict) else None
        exit_code = told.get("exit_code") if isinstance(told, dict) else None
        return exit_code != 0 if isinstance(exit_code, int) else None
    return None


# -- commands that are complete in themselves --------------------------------------


def _command(payload: _Payload) -> dict[str, Any]:
    if payload.type == "message":
        return _by_hand(joined(payload.content))
    failed = {"completed": False, "failed": True}.get(nonempty(payload.status) or "")
    if payload.type == "image_generation_call":
        named = "[image]" if shaped(payload.result, str) else ""
        if named:
            named = placeholder("image", payload.result)
        arguments = _wrapped("prompt", payload.revised_prompt)
        return {"tool": _tool(payload), "arguments": arguments, "text": named, "failed": failed}
    return {"tool": _tool(payload), "arguments": _arguments(payload), "failed": failed}


def _by_hand(text: str) -> dict[str, Any]:
    """Return the facts of a command that the person ran, from the message about it."""
    found = _BY_HAND.fullmatch(text)
    if found is None:
        return {"tool": "shell", "text": text}
    code = _ENDED.search(found[2])
    arguments = msgspec.json.encode({"command": found[1]}).decode()
    failed = None if code is None else int(code[1]) != 0
    return {"tool": "shell", "arguments": arguments, "text": found[3], "failed": failed}
