"""The protocol session with one program: which messages are valid when, and their answers.

Each request gets exactly one answer, and other messages get none; a line that cannot be parsed
gets an error. The only exception is a call that the program cancels.
"""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable
from typing import Any, Protocol

from hindnote.hosts.mcp import versions, wire
from hindnote.hosts.mcp.calls import Caller, Settings, caller
from hindnote.hosts.mcp.jobs import UNEXPECTED, Jobs
from hindnote.hosts.mcp.roots import Roots
from hindnote.hosts.mcp.wire import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    UNSUPPORTED_VERSION,
    Failed,
    Unreadable,
)

Send = Callable[[Any], None]
"""Called with a message, which becomes one line to the program."""

Reply = Callable[["dict[str, Any] | None"], None]
"""Called once with the answer to a message, or None when there is none."""


_ROOTS = ("notifications/initialized", "notifications/roots/list_changed")
"""Notifications after which a program's roots are requested."""


class Toolbox(Protocol):
    """Carries out calls."""

    def call(
        self, name: str, arguments: dict[str, Any], by: Caller, directory: Any, version: str
    ) -> dict[str, Any]:
        """Return the result of one call; raises ``Failed``."""
        ...


class Session:
    """The server's side of the session.

    Args:
        settings: The options with which the server was started.
        declared: The tools, as ``hindnote schemas`` prints them.
        toolbox: Carries out calls.
        send: Sends a message; called from several threads.
        server_version: Version of hindnote.
        jobs: The running calls.
    """

    def __init__(
        self,
        settings: Settings,
        declared: list[dict[str, Any]],
        toolbox: Toolbox,
        send: Send,
        server_version: str,
        jobs: Jobs | None = None,
    ) -> None:
        self._settings = settings
        self._declared = declared
        self._names = [tool["name"] for tool in declared]
        self._toolbox = toolbox
        self._send = send
        self._server_version = server_version
        self._roots = Roots(send)
        self._has_roots = False
        self._agreed: str | None = None
        self.jobs = jobs or Jobs()
        self.listed = False
        """Whether the program has the list of tools, so it will call one next."""

    def take(self, line: bytes) -> None:
        """Process one line."""
        if not line.strip():
            return
        try:
            value = wire.read(line)
        except Unreadable as bad:
            self._send(wire.error(bad.id, Failed(PARSE_ERROR, bad.message)))
            return
        if isinstance(value, list):
            self._batch(value)
        else:
            self._message(value, self._reply)

    def refuse(self, message: str) -> None:
        """Answer a line that was too long to be read."""
        self._send(wire.error(None, Failed(PARSE_ERROR, message)))

    def _reply(self, answer: dict[str, Any] | None) -> None:
        if answer is not None:
            self._send(answer)

    def _batch(self, messages: list[Any]) -> None:
        if self._agreed in versions.BATCHES and messages:
            batch = _Batch(len(messages), self._send)
            for message in messages:
                self._message(message, batch.reply)
            return
        told = "a line holds several messages, or none; send each one on a line of its own"
        failed = Failed(INVALID_REQUEST, told)
        ids = [one.get("id") for one in messages if isinstance(one, dict) and "method" in one]
        for id in [id for id in ids if wire.is_id(id)] or [None]:
            self._send(wire.error(id, failed))

    def _message(self, message: Any, reply: Reply) -> None:
        if not isinstance(message, dict):
            reply(wire.error(None, Failed(INVALID_REQUEST, "a message is a JSON object")))
            return
        if "method" not in message and ("result" in message or "error" in message):
            self._roots.take(message)
            reply(None)
            return
        try:
            method, params = _checked(message)
        except Failed as failed:
            reply(wire.error(message.get("id"), failed))
            return
        if "id" in message:
            self._request(message["id"], method, params, reply)
            return
        self._notification(method, params)
        reply(None)

    def _request(self, id: Any, method: str, params: Any, reply: Reply) -> None:
        def answer(ended: dict[str, Any] | Failed | None) -> None:
            if isinstance(ended, Failed):
                reply(wire.error(id, ended))
            else:
                reply(None if ended is None else wire.result(id, ended))

        try:
            if params is not None and not isinstance(params, dict):
                raise Failed(INVALID_PARAMS, "params is a JSON object")
            params = params or {}
            version = self._version(method, params)
            if method == "tools/call":
                self._call(id, version, params, answer)
                return
            ended: dict[str, Any] | Failed = self._answered(method, version, params)
        except Failed as failed:
            ended = failed
        except Exception:  # noqa: BLE001
            traceback.print_exc()
            ended = UNEXPECTED
        answer(ended)

    def _version(self, method: str, params: dict[str, Any]) -> str | None:
        """Return a request's protocol version; None before one is agreed on."""
        meta = params.get("_meta")
        named = meta.get(versions.VERSION_KEY) if isinstance(meta, dict) else None
        if named is None or named == self._agreed or method == "initialize":
            return self._agreed
        if named not in versions.STATELESS:
            supported = [*versions.STATELESS, *versions.HANDSHAKE]
            raise Failed(
                UNSUPPORTED_VERSION,
                "this version of the protocol is not served",
                {"supported": supported, "requested": named},
            )
        return str(named)

    def _answered(self, method: str, version: str | None, params: dict[str, Any]) -> dict[str, Any]:
        stateless = version in versions.STATELESS
        if method == "initialize":
            return self._initialize(params)
        if method == "server/discover":
            return self._stamped(version or versions.STATELESS[-1], versions.discovery())
        if method == "ping" and not stateless:
            return {}
        if method == "tools/list":
            if params.get("cursor") is not None:
                raise Failed(INVALID_PARAMS, "there is no such cursor: all tools are on one page")
            known = _greeted(version)
            self.listed = True
            return self._stamped(known, versions.tool_list(known, self._declared))
        raise Failed(METHOD_NOT_FOUND, f"there is no method {_short(method)}")

    def _stamped(self, version: str, result: dict[str, Any]) -> dict[str, Any]:
        return versions.stamped(version, result, self._server_version)

    def _initialize(self, params: dict[str, Any]) -> dict[str, Any]:
        asked = params.get("protocolVersion")
        if not isinstance(asked, str):
            raise Failed(INVALID_PARAMS, "initialize needs protocolVersion, a text")
        self._agreed = versions.agreed(asked)
        able = params.get("capabilities")
        self._has_roots = isinstance(able, dict) and isinstance(able.get("roots"), dict)
        return versions.greeting(self._agreed, self._server_version)

    def _call(
        self,
        id: Any,
        version: str | None,
        params: dict[str, Any],
        answer: Callable[[dict[str, Any] | Failed | None], None],
    ) -> None:
        known = _greeted(version)
        name, arguments = params.get("name"), params.get("arguments")
        if name not in self._names:
            there = ", ".join(self._names)
            raise Failed(INVALID_PARAMS, f"no tool named {_short(name)}; there are: {there}")
        if arguments is not None and not isinstance(arguments, dict):
            raise Failed(INVALID_PARAMS, "arguments is a JSON object")
        by = caller(params.get("_meta"))
        stateless = known in versions.STATELESS

        def work() -> dict[str, Any]:
            # A program without an initialize request cannot be asked for its roots.
            directory = None if stateless else self._roots.directory()
            base = directory or self._settings.directory
            result = self._toolbox.call(str(name), arguments or {}, by, base, known)
            return self._stamped(known, result)

        self.jobs.add(id, work, answer)

    def _notification(self, method: str, params: Any) -> None:
        if method == "notifications/cancelled" and isinstance(params, dict):
            self.jobs.cancel(params.get("requestId"))
        elif method in _ROOTS and self._has_roots and not self._settings.fixed:
            self._roots.ask()


class _Batch:
    """Collects the answers to the messages of one line, and sends them together."""

    def __init__(self, expected: int, send: Send) -> None:
        self._left = expected
        self._send = send
        self._answers: list[dict[str, Any]] = []
        self._lock = threading.Lock()

    def reply(self, answer: dict[str, Any] | None) -> None:
        with self._lock:
            self._left -= 1
            if answer is not None:
                self._answers.append(answer)
            if self._left or not self._answers:
                return
        self._send(self._answers)


def _checked(message: dict[str, Any]) -> tuple[str, Any]:
    """Return a message's method and parameters after checking it."""
    method = message.get("method")
    if "id" in message and not wire.is_id(message["id"]):
        raise Failed(INVALID_REQUEST, "the id of a request is a text or a number")
    if message.get("jsonrpc") != "2.0":
        raise Failed(INVALID_REQUEST, 'a message has "jsonrpc": "2.0"')
    if not isinstance(method, str):
        raise Failed(INVALID_REQUEST, "a request has a method, a text")
    return method, message.get("params")


def _greeted(version: str | None) -> str:
    if version is None:
        raise Failed(
            INVALID_REQUEST,
            f"send initialize first, or name the protocol's version in _meta: {versions.STATELESS[-1]}",
        )
    return version


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:79]}…"
