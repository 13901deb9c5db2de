"""What a Pi session's shim and its private process say to each other: JSON Lines.

One request and one response per line, UTF-8, matched by ``id``. Calls run in
parallel. The first line that the process writes says that it is ready::

    {"ready": {"protocol": 1, "pid": 4711}}

Requests (``host`` holds the facts of ``HostFacts``, absent ones left out)::

    {"id": "7", "type": "call", "operation": "notes_read", "arguments": {…}, "host": {…}}
    {"id": "8", "type": "boot", "host": {…}, "tools": ["notes_list", …]}
    {"id": "10", "type": "project", "tool": "project_todo_list", "arguments": {…}, "host": {…}}
    {"id": "9", "type": "status"}
    {"id": "7", "type": "cancel"}
    {"type": "entries", "reset": true, "entries": ["{…}", …]}

``entries`` carries what a session without a file holds: the header and every entry
after a reset, then only what was appended since, each as the JSON text that a session
file would hold, so that one that cannot be read spoils no other. It has no response,
and every request behind it sees it. A request whose ``host.live`` is true reads there.

Responses::

    {"id": "7", "ok": true, "value": {"result", "text", "isError", "extras"}}
    {"id": "8", "ok": true, "value": {"text": "…"}}
    {"id": "10", "ok": true, "value": {"result", "blocks", "details", "isError"}}
    {"id": "9", "ok": true, "value": {"pid", "version", "home", "hosts", "refused"}}
    {"id": "7", "ok": false, "failure": {"kind": "arguments", "message": "…"}}

A refusal is an answer (``ok`` is true, ``isError`` too), and so is a project tool's
native failure. A failure is the host's own:
``arguments`` (they break the input schema), ``host`` (the call could not be carried
out; a crash's text stays in the log), ``refused`` (a boot block that cannot be built
for this session), ``request`` (not of this protocol) and ``cancelled``. A cancelled
call that did not begin is never carried out; one that runs is carried out to its end,
whole, and its answer is dropped.

The process ends when its standard input does, after the calls that run. Standard
output carries nothing but responses; logs go to standard error.
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
"""Grows when an older shim could no longer talk to this process."""


class HostFacts(
    Struct, frozen=True, forbid_unknown_fields=True, rename="camel", omit_defaults=True
):
    """What the shim knows of the session as a request leaves it."""

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
    """The file that the session was forked from, as its header names it."""

    started: str | None = None
    """When a fork began, as its header says."""


class _Message(Struct, frozen=True, forbid_unknown_fields=True, tag_field="type"):
    """Base of everything that the shim sends."""


class CallRequest(_Message, frozen=True, tag="call"):
    """Carry out one operation."""

    id: str
    operation: str
    arguments: dict[str, Any]
    host: HostFacts


class ProjectRequest(_Message, frozen=True, tag="project"):
    """Carry out one call of a project tool."""

    id: str
    tool: str
    arguments: dict[str, Any]
    host: HostFacts


class BootRequest(_Message, frozen=True, tag="boot"):
    """Build the boot block."""

    id: str
    host: HostFacts
    tools: list[str]
    """Names of the operations that the model was offered."""


class StatusRequest(_Message, frozen=True, tag="status"):
    """Say who is there."""

    id: str


class Cancel(_Message, frozen=True, tag="cancel"):
    """Give up the request of this id."""

    id: str


class Entries(_Message, frozen=True, tag="entries"):
    """Entries of a session without a file."""

    reset: bool
    entries: list[str]


Request = CallRequest | ProjectRequest | BootRequest | StatusRequest
Message = CallRequest | ProjectRequest | BootRequest | StatusRequest | Cancel | Entries

_decoder = msgspec.json.Decoder(Message)


def decode(line: bytes) -> Message:
    """Return one checked message.

    Raises:
        msgspec.DecodeError: The line is not of the protocol.
    """
    try:
        return _decoder.decode(line)
    except RecursionError as error:
        raise msgspec.DecodeError("it is nested too deeply") from error
    except msgspec.DecodeError as error:
        # JavaScript strings may hold lone surrogates, whose escapes msgspec refuses.
        try:
            cleaned = json.dumps(clean_json(json.loads(line)), ensure_ascii=False)
        except (ValueError, RecursionError):
            raise error from None
        return _decoder.decode(cleaned.encode())


class LiveSnapshot(Struct, frozen=True):
    """The entries that had arrived when a request did."""

    generation: int
    lines: list[bytes]


class LiveBuffer(Struct):
    """Entries of a session without a file, as they arrive."""

    generation: int = 0
    lines: list[bytes] = field(default_factory=list)

    def take(self, message: Entries) -> None:
        """Add entries, or begin again with them."""
        if message.reset:
            self.generation += 1
            self.lines = []
        self.lines.extend(entry.encode() for entry in message.entries)

    def snapshot(self) -> LiveSnapshot:
        """Return what is there now; entries that come later do not show in it."""
        return LiveSnapshot(self.generation, list(self.lines))


def host_call(facts: HostFacts, live: LiveSnapshot | None) -> HostCall:
    """Return the call that the plugins are asked with."""
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
    """Return the response that says a request failed."""
    return {"id": request_id, "ok": False, "failure": {"kind": kind, "message": message}}


_LEADING_ID = re.compile(rb'\s*\{\s*"id"\s*:\s*"([^"\\]+)"')


def id_of(line: bytes) -> str | None:
    """Return the id of a message that is not of the protocol, if it begins with one.

    It may be beyond parsing; a shim that puts the id first is answered all the same.
    """
    found = _LEADING_ID.match(line)
    return found[1].decode("utf-8", "replace") if found else None
