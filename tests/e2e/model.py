"""A scripted model: an Anthropic Messages API on loopback that plays turns and records requests.

A script is a list of turns. A request is answered by the first turn not played yet
whose ``when`` accepts it; by default that is any request which offers tools, since
hosts ask for titles and summaries without them. A request that no turn accepts is a
side job of the host: it is recorded, and answered with a harmless text.

    with ScriptedModel(Turn(ToolCall("notes_list", {})), Turn(Text("done"))) as model:
        ...run the host against model.url...
        assert model.played[1].results[0].text == "no notes"
"""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

SIDE_ANSWER = "Noted."
HOLD_LIMIT = 120.0
"""Seconds for which a turn waits on an event, at most."""


@dataclass(frozen=True)
class Text:
    """A text block of an answer."""

    text: str


@dataclass(frozen=True)
class ToolCall:
    """A tool call of an answer; the id is made up unless given."""

    name: str
    arguments: dict[str, Any]
    id: str | None = None


@dataclass(frozen=True)
class Hold:
    """Stops the answer at this place until the event is set."""

    event: threading.Event


@dataclass(frozen=True)
class Native:
    """A block in the dialect's own form, which no other dialect has."""

    item: dict[str, Any]


Block = Text | ToolCall | Hold | Native


@dataclass(frozen=True)
class Result:
    """One tool result as the host sent it."""

    call_id: str
    text: str
    is_error: bool


@dataclass
class Request:
    """One request as it arrived."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    turn: Turn | None = None
    """The turn that answered it; None for a side job."""

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The conversation that was sent."""
        return self.body.get("messages", [])

    @property
    def tools(self) -> dict[str, dict[str, Any]]:
        """The tools that were offered, by name."""
        return {tool["name"]: tool for tool in self.body.get("tools") or []}

    @property
    def system(self) -> str:
        """The system prompt as one text."""
        return _text(self.body.get("system", ""))

    @property
    def results(self) -> list[Result]:
        """The tool results in the last message, in order."""
        if not self.messages:
            return []
        return list(_results(self.messages[-1]))

    @property
    def all_results(self) -> list[Result]:
        """Every tool result of the conversation, in order."""
        return [result for message in self.messages for result in _results(message)]

    @property
    def prompt(self) -> str:
        """All text in user messages, tool results left out."""
        return "\n".join(_text(m["content"]) for m in self.messages if m["role"] == "user")

    @property
    def everything(self) -> str:
        """The whole request as JSON text, for a search."""
        return json.dumps(self.body, ensure_ascii=False)


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(block["text"] for block in content if block.get("type") == "text")


def _results(message: dict[str, Any]) -> Iterator[Result]:
    content = message["content"]
    for block in content if isinstance(content, list) else []:
        if block.get("type") == "tool_result":
            text = _text(block.get("content") or "")
            yield Result(block["tool_use_id"], text, bool(block.get("is_error", False)))


def offers_tools(request: Request) -> bool:
    """Return whether the request belongs to the conversation: side jobs offer no tools."""
    return bool(request.tools)


def says(text: str) -> Callable[[Request], bool]:
    """Return a predicate: the request holds ``text`` anywhere."""
    return lambda request: text in request.everything


class Turn:
    """One answer of the model.

    Args:
        blocks: What it holds, in order; a function gets the request and returns them.
        when: Which requests it may answer.
        input_tokens: What it says the request cost; None: a quarter of its characters.
        status: An HTTP status other than 200 makes the turn an error.
    """

    def __init__(
        self,
        *blocks: Block | Callable[[Request], list[Block]],
        when: Callable[[Request], bool] = offers_tools,
        input_tokens: int | None = None,
        status: int = 200,
    ) -> None:
        self._blocks = blocks
        self.when = when
        self.input_tokens = input_tokens
        self.status = status

    def blocks(self, request: Request) -> list[Block]:
        """Return the blocks of the answer to this request."""
        made: list[Block] = []
        for block in self._blocks:
            made.extend(block(request) if callable(block) else [block])
        return made


_SIDE = Turn(Text(SIDE_ANSWER))


@dataclass
class _Answer:
    """An answer on its way: the message's head and its blocks."""

    id: str
    model: str
    input_tokens: int
    blocks: list[Block]
    counter: Iterator[int] = field(repr=False)

    @property
    def stop_reason(self) -> str:
        calls = any(isinstance(block, ToolCall) for block in self.blocks)
        return "tool_use" if calls else "end_turn"

    @property
    def output_tokens(self) -> int:
        return 10 * max(1, len(self.blocks))

    def head(self) -> dict[str, Any]:
        usage = {"input_tokens": self.input_tokens, "output_tokens": 1}
        return {
            "id": self.id,
            "type": "message",
            "role": "assistant",
            "model": self.model,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": usage,
        }

    def content(self) -> Iterator[dict[str, Any]]:
        """Yield the blocks as the API has them, waiting where a ``Hold`` says so."""
        for block in self.blocks:
            if isinstance(block, Hold):
                block.event.wait(HOLD_LIMIT)
            elif isinstance(block, Native):
                yield {"type": "native", "item": block.item}
            elif isinstance(block, Text):
                yield {"type": "text", "text": block.text}
            else:
                yield {
                    "type": "tool_use",
                    "id": block.id or f"toolu_{next(self.counter):06d}",
                    "name": block.name,
                    "input": block.arguments,
                }

    def whole(self) -> dict[str, Any]:
        message = self.head()
        message["content"] = list(self.content())
        message["stop_reason"] = self.stop_reason
        message["usage"]["output_tokens"] = self.output_tokens
        return message

    def events(self) -> Iterator[dict[str, Any]]:
        """Yield the events of a streamed answer."""
        yield {"type": "message_start", "message": self.head()}
        for index, block in enumerate(self.content()):
            yield from _block_events(index, block)
        delta = {"stop_reason": self.stop_reason, "stop_sequence": None}
        usage = {"output_tokens": self.output_tokens}
        yield {"type": "message_delta", "delta": delta, "usage": usage}
        yield {"type": "message_stop"}


def _block_events(index: int, block: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if block["type"] == "text":
        start = {"type": "text", "text": ""}
        delta = {"type": "text_delta", "text": block["text"]}
    else:
        start = {**block, "input": {}}
        partial = json.dumps(block["input"], ensure_ascii=False)
        delta = {"type": "input_json_delta", "partial_json": partial}
    yield {"type": "content_block_start", "index": index, "content_block": start}
    yield {"type": "content_block_delta", "index": index, "delta": delta}
    yield {"type": "content_block_stop", "index": index}


class ScriptedModel:
    """The endpoint. Use it as a context manager; ``url`` is where a host finds it.

    Args:
        *turns: The script.
        speaks: Another form of the endpoint; by default the Anthropic Messages API.
    """

    def __init__(self, *turns: Turn, speaks: type[_Handler] | None = None) -> None:
        self.requests: list[Request] = []
        """Every request to the messages endpoint, in order of arrival."""
        self._turns = list(turns)
        self._changed = threading.Condition()
        self._counter = itertools.count(1)
        self._server = _Server(("127.0.0.1", 0), speaks or _Handler)
        self._server.script = self
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )

    @property
    def url(self) -> str:
        """The base URL, without a trailing slash."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def played(self) -> list[Request]:
        """The requests that turns answered, in order: the conversation."""
        return [request for request in self.requests if request.turn is not None]

    @property
    def side_jobs(self) -> list[Request]:
        """The requests that no turn was meant for."""
        return [request for request in self.requests if request.turn is None]

    @property
    def left(self) -> list[Turn]:
        """Turns not played yet."""
        return list(self._turns)

    def then(self, *turns: Turn) -> None:
        """Add turns to the script."""
        with self._changed:
            self._turns.extend(turns)

    def wait_for(self, holds: Callable[[ScriptedModel], bool], timeout: float = 60) -> None:
        """Wait until ``holds(self)``; asked again at each request.

        Raises:
            AssertionError: It did not come to hold in time.
        """
        with self._changed:
            if not self._changed.wait_for(lambda: holds(self), timeout):
                raise AssertionError(f"not reached after {len(self.requests)} requests")

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def answer(self, request: Request) -> tuple[int, _Answer]:
        """Record a request and return the status and the answer to it."""
        with self._changed:
            turn = next((turn for turn in self._turns if turn.when(request)), None)
            if turn is not None:
                self._turns.remove(turn)
            request.turn = turn
            self.requests.append(request)
            self._changed.notify_all()
        turn = turn or _SIDE
        tokens = turn.input_tokens
        answer = _Answer(
            id=f"msg_{next(self._counter):06d}",
            model=request.body.get("model", "scripted"),
            input_tokens=len(request.everything) // 4 if tokens is None else tokens,
            blocks=turn.blocks(request),
            counter=self._counter,
        )
        return turn.status, answer


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    script: ScriptedModel


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, *_: Any) -> None:
        """Keep the test's output clean."""

    def do_HEAD(self) -> None:
        self._json(200, {})

    def do_GET(self) -> None:
        self._json(200, {"data": [], "has_more": False})

    def do_POST(self) -> None:
        length = int(self.headers.get("content-length") or 0)
        raw = self.rfile.read(length)
        path = self.path.partition("?")[0]
        try:
            if path.endswith("/messages"):
                headers = {key.lower(): value for key, value in self.headers.items()}
                self._messages(Request(path, headers, json.loads(raw)))
            elif path.endswith("/count_tokens"):
                self._json(200, {"input_tokens": len(raw) // 4})
            else:
                self._json(200, {})
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True  # the host went away: an abort, or a kill

    def _messages(self, request: Request) -> None:
        status, answer = self.server.script.answer(request)
        if status != 200:
            error = {"type": "api_error", "message": f"scripted status {status}"}
            self._json(status, {"type": "error", "error": error})
        elif not request.body.get("stream"):
            self._json(200, answer.whole())
        else:
            self._stream(answer)

    def _stream(self, answer: _Answer) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        for event in answer.events():
            data = json.dumps(event, ensure_ascii=False)
            self.wfile.write(f"event: {event['type']}\ndata: {data}\n\n".encode())
            self.wfile.flush()
        self.close_connection = True

    def _json(self, status: int, body: dict[str, Any]) -> None:
        data = json.dumps(body, ensure_ascii=False).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)
