"""Answer a request of the mod, once or as a resident server.

A request is one JSON object, the same on both transports::

    {"kind": "call", "operation": "notes_list", "arguments": {…}, "call": {"cwd": …, …}}
    {"kind": "project", "tool": "project_todo_list", "arguments": {…}, "call": {…}}
    {"kind": "boot", "call": {…}, "tools": ["notes_list", …]}

The answer to a call is the envelope of its outcome and the text for the model; to a project tool,
only that text; to ``boot``, the text of the block. Otherwise the answer is ``{"failure": {"kind",
"message"}}``. A refusal is an answer. Requests and the host's environment are never logged.
"""

from __future__ import annotations

import json
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from hindnote.core.errors import ArgumentError, HostFailure, Refused
from hindnote.core.system import process
from hindnote.hosts.claude.paths import HOST

if TYPE_CHECKING:
    from hindnote.core.call import Dispatcher
    from hindnote.core.plugins.models import HostCall

BODY_LIMIT = 4 * 1024 * 1024
"""Maximum size of a request, in bytes."""

STATUS = {"request": 400, "arguments": 422, "host": 500, "crash": 500}
"""HTTP status of each kind of failure."""

READY = b"ready\n"
"""Written to standard output once the resident server listens; nothing else is."""


class BadRequest(ValueError):
    """The request is invalid: a defect of the mod, not of the model's call."""


def one_shot(source: BinaryIO, sink: BinaryIO) -> int:
    """Answer the one request in ``source`` and return the exit status."""
    status, body = answer(source.read(BODY_LIMIT + 1))
    sink.write(body)
    sink.flush()
    return 0 if status == 200 else 2


def resident(socket: str, parent: int, idle: float, sink: BinaryIO) -> int:
    """Serve on a Unix socket until the host ends, and return the exit status.

    Args:
        socket: Path of the socket.
        parent: Id of the process with which the server ends.
        idle: Seconds without a request after which it ends.
        sink: Where to report that the server listens.
    """
    from hindnote.hosts.claude.server import Server

    def ready() -> None:
        sink.write(READY)
        sink.flush()
        # Requests queue in the socket meanwhile; the imports run in a single thread.
        _warm_up()
        process.settle()

    try:
        Server(Path(socket), parent, idle, answer, BODY_LIMIT).run(ready)
    except OSError as error:
        print(f"hindnote cannot serve at {socket}: {error}", file=sys.stderr)  # noqa: T201
        return 1
    return 0


def answer(body: bytes) -> tuple[int, bytes]:
    """Return HTTP status and JSON text for one request's JSON text."""
    try:
        if len(body) > BODY_LIMIT:
            raise BadRequest(f"it has {len(body)} bytes or more; at most {BODY_LIMIT} are read")
        response = respond(_parsed(body))
    except BadRequest as bad:
        response = _failure("request", f"the helper cannot read the request: {bad}")
    except Exception:  # noqa: BLE001
        # The last handler before the transport: the traceback goes to the log. Its text could
        # contain anything, so none of it goes to the model.
        import traceback

        traceback.print_exc()
        response = _failure("crash", "hindnote failed unexpectedly; its log has the trace")
    failure = response.get("failure")
    status = 200 if failure is None else STATUS[failure["kind"]]
    return status, json.dumps(response, separators=(",", ":")).encode()


def respond(request: dict[str, Any]) -> dict[str, Any]:
    """Return the response to a request.

    Raises:
        BadRequest: The request is invalid.
    """
    kind = request.pop("kind", None)
    try:
        if kind == "boot":
            return _boot(**_fields(request, call=dict, tools=list))
        if kind == "call":
            return _call(**_fields(request, operation=str, arguments=dict, call=dict))
        if kind == "project":
            return _project(**_fields(request, tool=str, arguments=dict, call=dict))
    except ArgumentError as error:
        return _failure("arguments", str(error))
    except (HostFailure, Refused) as failure:
        # A refused call is an answer; only a refused boot block arrives here.
        return _failure("host", str(failure))
    raise BadRequest(f"kind {kind!r} is none of 'call', 'project' and 'boot'")


def _parsed(body: bytes) -> dict[str, Any]:
    try:
        request = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise BadRequest(f"no JSON ({error})") from error
    if not isinstance(request, dict):
        raise BadRequest("no JSON object")
    return request


def _fields(request: dict[str, Any], **types: type) -> dict[str, Any]:
    """Return the request if it has exactly the named fields, with the given types."""
    for name, type_ in types.items():
        if not isinstance(request.get(name), type_):
            raise BadRequest(f"{name} must be there, as {type_.__name__}")
    unknown = sorted(set(request) - set(types))
    if unknown:
        raise BadRequest(f"unknown fields: {', '.join(unknown)}")
    return request


def _host_call(told: dict[str, Any]) -> HostCall:
    from pydantic import ValidationError

    from hindnote.core.plugins.models import HostCall

    try:
        return HostCall.model_validate({**told, "host": HOST})
    except ValidationError as error:
        wrong = ", ".join(".".join(map(str, item["loc"])) for item in error.errors())
        raise BadRequest(f"call has fields that are missing, unknown or wrong: {wrong}") from error


def _call(operation: str, arguments: dict[str, Any], call: dict[str, Any]) -> dict[str, Any]:
    from hindnote.core.tools.outcome import envelope

    answer = _dispatcher().call(_host_call(call), operation, arguments)
    return {"outcome": envelope(answer.outcome), "text": answer.text, "isError": answer.is_error}


def _project(tool: str, arguments: dict[str, Any], call: dict[str, Any]) -> dict[str, Any]:
    answer = _dispatcher().project(_host_call(call), tool, arguments)
    return {"text": answer.text, "isError": answer.is_error}


def _boot(call: dict[str, Any], tools: list[Any]) -> dict[str, Any]:
    if not all(isinstance(name, str) for name in tools):
        raise BadRequest("tools must be names of operations")
    asked = _host_call(call)
    if asked.extra.get("has_messages") is True:
        from hindnote.hosts.claude.sessions.ancestry import lacks_fork_block

        if not lacks_fork_block(asked):
            return {"text": ""}
    return {"text": _dispatcher().boot(asked, tools)}


@cache
def _dispatcher() -> Dispatcher:
    from hindnote.core.call import Dispatcher
    from hindnote.core.places.home import notes_home
    from hindnote.core.plugins.hosts import Hosts
    from hindnote.hosts.claude import plugin

    return Dispatcher(Hosts.load({HOST: plugin}), notes_home())


def _warm_up() -> None:
    """Import everything that calls need."""
    import hindnote.core.boot.block  # noqa: F401
    from hindnote.core.tools.registry import registry

    _dispatcher()
    list(registry().values())


def _failure(kind: str, message: str) -> dict[str, Any]:
    return {"failure": {"kind": kind, "message": message}}
