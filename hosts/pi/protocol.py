"""The protocol between a Pi session's shim and its private process: JSON Lines.

One request or response per line, in UTF-8, matched by ``id``. Calls run in parallel. The first
line that the process writes tells that it is ready::

    {"ready": {"protocol": 1, "pid": 4711}}

Requests (``host`` contains the fields of ``HostFacts``; absent ones are left out)::

    {"id": "7", "type": "call", "operation": "notes_read", "arguments": {…}, "host": {…}}
    {"id": "8", "type": "boot", "host": {…}, "tools": ["notes_list", …]}
    {"id": "10", "type": "project", "tool": "project_todo_list", "arguments": {…}, "host": {…}}
    {"id": "9", "type": "status"}
    {"id": "7", "type": "cancel"}
    {"type": "entries", "reset": true, "entries": ["{…}", …]}

``entries`` sends the content of a session without a file: after a reset the header and every
entry, then only the appended ones. Each is the JSON text that a session file would contain, so an
unreadable one does not affect the others. It has no response, and all later requests see it. A
request whose ``host.live`` is true reads these entries.

Responses::

    {"id": "7", "ok": true, "value": {"result", "text", "isError", "extras"}}
    {"id": "8", "ok": true, "value": {"text": "…"}}
    {"id": "10", "ok": true, "value": {"result", "blocks", "details", "isError"}}
    {"id": "9", "ok": true, "value": {"pid", "version", "home", "hosts", "refused"}}
    {"id": "7", "ok": false, "failure": {"kind": "arguments", "message": "…"}}

A refusal is an answer (``ok`` and ``isError`` are true), and so is a project tool's native
failure. A failure is the host's own: ``arguments`` (they do not match the input schema), ``host``
(the call could not be carried out; a crash's text stays in the log), ``refused`` (the boot block
cannot be built for this session), ``request`` (not of this protocol) and ``cancelled``. A
cancelled call that has not begun is not carried out; one that is running is completed, and its
answer is dropped.

The process ends after its standard input, once the running calls have finished. Standard output
contains only responses; logs go to standard error.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct, field

from hindnote.core.plugins.models import HostCall
from hindnote.core.text import clean_json

PROTOCOL = 2
"""Increases when an older shim can no longer communicate with this process."""


class HostFacts(
    Struct, frozen=True, forbid_unknown_fields=True, rename="camel", omit_defaults=True
):
    """The session's state when a request was sent, as the shim knows it."""

    cwd: str
    session_id: str | None = None
    session_file: str | None = None
    leaf_id: str | None = None
    call_id: str | None = None
    agent_dir: str | None = None
    model: str | None = None
    agent: str | None = None
    live: bool = False
    parent_session: str | None = None
    """Path of the session file from which it was forked, as in its header."""

    started: str | None = None
    """Time when a fork began, as in its header."""


class _Message(Struct, frozen=True, forbid_unknown_fields=True, tag_field="type"):
    """Base of all messages that the shim sends."""


class CallRequest(_Message, frozen=True, tag="call"):
    """Requests one operation."""

    id: str
    operation: str
    arguments: dict[str, Any]
    host: HostFacts


class ProjectRequest(_Message, frozen=True, tag="project"):
    """Requests one call of a project tool."""

    id: str
    tool: str
    arguments: dict[str, Any]
    host: HostFacts


class BootRequest(_Message, frozen=True, tag="boot"):
    """Requests the boot block."""

    id: str
    host: HostFacts
    tools: list[str]
    """Names of the operations that are available to the model."""


class StatusRequest(_Message, frozen=True, tag="status"):
    """Requests the server's status."""

    id: str


class Cancel(_Message, frozen=True, tag="cancel"):
    """Cancels the request with this id."""

    id: str


class Entries(_Message, frozen=True, tag="entries"):
    """Entries of a session without a file."""

    reset: bool
    entries: list[str]


Request = CallRequest | ProjectRequest | BootRequest | StatusRequest
Message = CallRequest | ProjectRequest | BootRequest | StatusRequest | Cancel | Entries

_decoder = msgspec.json.Decoder(Message)


def decode(line: bytes) -> Message:
    """Return the validated message on a line.

    Raises:
        msgspec.DecodeError: The line does not follow the protocol.
    """
    try:
        return _decoder.decode(line)
    except RecursionError as error:
        raise msgspec.DecodeError("it is nested too deeply") from error
    except msgspec.DecodeError as error:
        # JavaScript strings may contain lone surrogates, whose escapes msgspec rejects.
        try:
            cleaned = json.dumps(clean_json(json.loads(line)), ensure_ascii=False)
        except (ValueError, RecursionError):
            raise error from None
        return _decoder.decode(cleaned.encode())


class LiveSnapshot(Struct, frozen=True):
    """The entries that had arrived before a request."""

    generation: int
    lines: list[bytes]


class LiveBuffer(Struct):
    """Collects the entries of a session without a file as they arrive."""

    generation: int = 0
    lines: list[bytes] = field(default_factory=list)

    def take(self, message: Entries) -> None:
        """Add entries; after a reset, start again with them."""
        if message.reset:
            self.generation += 1
            self.lines = []
        self.lines.extend(entry.encode() for entry in message.entries)

    def snapshot(self) -> LiveSnapshot:
        """Return the current entries; later ones do not appear in the result."""
        return LiveSnapshot(self.generation, list(self.lines))


def host_call(facts: HostFacts, live: LiveSnapshot | None) -> HostCall:
    """Return the call for the plugins."""
    return HostCall(
        host="pi",
        session_id=facts.session_id,
        session_file=_path(facts.session_file),
        leaf_id=facts.leaf_id,
        call_id=facts.call_id,
        cwd=Path(facts.cwd),
        config_dir=_path(facts.agent_dir),
        model=facts.model,
        agent=facts.agent,
        live=live,
        extra={"parent_session": facts.parent_session, "started": facts.started},
    )


def _path(value: str | None) -> Path | None:
    return None if value is None else Path(value)


def failure(request_id: str, kind: str, message: str) -> dict[str, Any]:
    """Return the response to a failed request."""
    return {"id": request_id, "ok": False, "failure": {"kind": kind, "message": message}}


_LEADING_ID = re.compile(rb'\s*\{\s*"id"\s*:\s*"([^"\\]+)"')


def id_of(line: bytes) -> str | None:
    """Return the id at the beginning of an invalid message; None when there is none.

    Even a line that cannot be parsed gets an answer if the shim puts the id first.
    """
    found = _LEADING_ID.match(line)
    return found[1].decode("utf-8", "replace") if found else None
