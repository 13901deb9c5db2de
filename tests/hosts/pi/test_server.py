from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from hindnote.core.call import Answer, HostFailure
from hindnote.core.errors import Refusal, Refused
from hindnote.core.plugins.models import HostCall
from hindnote.core.project.run import ToolAnswer, run_tool
from hindnote.core.tools.operation import ArgumentError
from hindnote.core.tools.outcome import render_refusal, wire
from hindnote.hosts.pi.protocol import PROTOCOL
from hindnote.hosts.pi.server import Server

HOST = {"cwd": "/tmp", "sessionId": "s1", "agentDir": "/a"}

Call = Callable[[HostCall, str, Mapping[str, Any]], Answer]
Boot = Callable[[HostCall, list[str]], str]


class Dispatcher:
    """Stands in for the real one: every call is what the test says."""

    def __init__(self, call: Call, boot: Boot) -> None:
        self.call = call
        self.boot = boot

    def project(self, call: HostCall, name: str, arguments: Mapping[str, Any]) -> ToolAnswer:
        return run_tool(name, arguments, base_cwd=call.cwd)


def refused(message: str = "no such note") -> Answer:
    refusal = Refusal("not_found", message)
    return Answer("notes_read", refusal, wire(refusal), render_refusal(refusal))


class Shim:
    """The other end of the pipes."""

    def __init__(self, requests: int, responses: int) -> None:
        self._requests = os.fdopen(requests, "wb", buffering=0)
        self._responses = os.fdopen(responses, "rb")

    def send(self, *messages: object) -> None:
        for message in messages:
            line = message if isinstance(message, bytes) else json.dumps(message).encode()
            self._requests.write(line + b"\n")

    def read(self) -> Any:
        line = self._responses.readline()
        return json.loads(line) if line else None

    def call(self, request_id: str, operation: str = "notes_read", **arguments: Any) -> None:
        self.send(
            {
                "type": "call",
                "id": request_id,
                "operation": operation,
                "arguments": arguments,
                "host": HOST,
            }
        )

    def hang_up(self) -> None:
        self._requests.close()

    def close(self) -> None:
        self._requests.close()
        self._responses.close()


@contextmanager
def serving(call: Call, boot: Boot = lambda _, tools: "block") -> Iterator[Shim]:
    read_requests, write_requests = os.pipe()
    read_responses, write_responses = os.pipe()
    shim = Shim(write_requests, read_responses)
    source, sink = os.fdopen(read_requests, "rb"), os.fdopen(write_responses, "wb")
    dispatcher: Any = Dispatcher(call, boot)

    def serve() -> None:
        with source, sink:
            Server(dispatcher, lambda: {"version": "1"}, source, sink).serve()

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield shim
    finally:
        shim.hang_up()
        thread.join(10)
        shim.close()
        assert not thread.is_alive()


def test_the_first_line_says_that_the_process_is_ready() -> None:
    with serving(lambda *_: refused()) as shim:
        ready = shim.read()

    assert ready == {"ready": {"protocol": PROTOCOL, "pid": os.getpid()}}


def test_a_refusal_is_an_answer_in_every_form() -> None:
    with serving(lambda *_: refused()) as shim:
        shim.read()
        shim.call("7")
        response = shim.read()

    message = "no such note"
    assert response == {
        "id": "7",
        "ok": True,
        "value": {
            "result": {"error": message, "code": "not_found"},
            "text": f"error: not_found: {message}",
            "isError": True,
            "extras": {},
        },
    }


def test_a_project_tools_answer_comes_with_its_nulls_and_blocks(tmp_path: Path) -> None:
    request = {"tool": "project_todo_list", "arguments": {}, "host": {**HOST, "cwd": str(tmp_path)}}
    wrong = {**request, "arguments": {"cwd": "x"}}
    with serving(lambda *_: refused()) as shim:
        shim.read()
        shim.send({"type": "project", "id": "1", **request})
        failed = shim.read()
        shim.send({"type": "project", "id": "2", **wrong})
        mistaken = shim.read()

    answer = run_tool("project_todo_list", {}, base_cwd=tmp_path)
    assert failed == {"id": "1", "ok": True, "value": answer.packaged()}
    assert failed["value"]["isError"] is True
    assert failed["value"]["result"]["effects"]["phase"] is None
    assert mistaken["failure"]["kind"] == "arguments"


@pytest.mark.parametrize(
    ("raised", "kind"), [(ArgumentError("limit: too big"), "arguments"), (HostFailure("x"), "host")]
)
def test_a_failure_names_its_kind(raised: Exception, kind: str) -> None:
    def call(*_: Any) -> Answer:
        raise raised

    with serving(call) as shim:
        shim.read()
        shim.call("7")
        response = shim.read()

    expected = {"kind": kind, "message": str(raised)}
    assert response == {"id": "7", "ok": False, "failure": expected}


def test_a_crash_keeps_its_text_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    def call(*_: Any) -> Answer:
        raise RuntimeError("secret")

    with serving(call) as shim:
        shim.read()
        shim.call("7")
        response = shim.read()
        shim.call("8")
        assert shim.read()["id"] == "8"

    assert response["failure"]["kind"] == "host"
    assert "secret" not in json.dumps(response)
    assert "secret" in caplog.text


def test_calls_run_in_parallel_and_answer_as_they_finish() -> None:
    gate = threading.Event()

    def call(_: HostCall, name: str, __: Mapping[str, Any]) -> Answer:
        if name == "slow":
            assert gate.wait(10)
        return refused(name)

    with serving(call) as shim:
        shim.read()
        shim.call("1", "slow")
        shim.call("2", "fast")
        assert shim.read()["id"] == "2"
        gate.set()
        assert shim.read()["id"] == "1"


def test_a_cancelled_call_answers_at_once_and_its_own_answer_is_dropped() -> None:
    gate, begun = threading.Event(), threading.Event()

    def call(_: HostCall, name: str, __: Mapping[str, Any]) -> Answer:
        if name == "slow":
            begun.set()
            assert gate.wait(10)
        return refused(name)

    with serving(call) as shim:
        shim.read()
        shim.call("1", "slow")
        assert begun.wait(10)
        shim.send({"type": "cancel", "id": "1"}, {"type": "cancel", "id": "unknown"})
        assert shim.read() == {
            "id": "1",
            "ok": False,
            "failure": {"kind": "cancelled", "message": "the call was cancelled"},
        }
        gate.set()
        shim.call("2", "fast")
        assert shim.read()["id"] == "2"
        shim.hang_up()
        assert shim.read() is None


def test_a_call_cancelled_while_it_waits_is_never_carried_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("hindnote.hosts.pi.server.WORKERS", 1)
    gate, seen = threading.Event(), []

    def call(_: HostCall, name: str, __: Mapping[str, Any]) -> Answer:
        seen.append(name)
        assert gate.wait(10)
        return refused(name)

    with serving(call) as shim:
        shim.read()
        shim.call("1", "first")
        shim.call("2", "second")
        shim.send({"type": "cancel", "id": "2"})
        assert shim.read()["failure"]["kind"] == "cancelled"
        gate.set()
        assert shim.read()["id"] == "1"

    assert seen == ["first"]


def test_running_calls_are_answered_after_the_input_ended() -> None:
    gate, begun = threading.Event(), threading.Event()

    def call(*_: Any) -> Answer:
        begun.set()
        assert gate.wait(10)
        return refused()

    with serving(call) as shim:
        shim.read()
        shim.call("1")
        assert begun.wait(10)
        shim.hang_up()
        gate.set()
        assert shim.read()["id"] == "1"
        assert shim.read() is None


def test_the_call_carries_what_the_shim_knows() -> None:
    seen: list[HostCall] = []

    def boot(call: HostCall, tools: list[str]) -> str:
        seen.append(call)
        return f"the block for {tools}"

    host = {
        "cwd": "/work",
        "sessionId": "s1",
        "sessionFile": "/s/f.jsonl",
        "leafId": "l1",
        "callId": "c1/2",
        "agentDir": "/a",
        "model": "m",
        "live": False,
        "parentSession": "/s/parent.jsonl",
        "started": "2026-12-01T09:00:00.000Z",
    }
    with serving(lambda *_: refused(), boot) as shim:
        shim.read()
        shim.send({"type": "boot", "id": "1", "host": host, "tools": ["notes_write"]})
        assert shim.read() == {
            "id": "1",
            "ok": True,
            "value": {"text": "the block for ['notes_write']"},
        }

    assert seen == [
        HostCall(
            host="pi",
            session_id="s1",
            session_file=Path("/s/f.jsonl"),
            leaf_id="l1",
            call_id="c1/2",
            cwd=Path("/work"),
            config_dir=Path("/a"),
            model="m",
            extra={"parent_session": "/s/parent.jsonl", "started": "2026-12-01T09:00:00.000Z"},
        )
    ]


def test_a_boot_block_that_is_refused_is_a_failure() -> None:
    def boot(_: HostCall, tools: list[str]) -> str:
        raise Refused("unreadable_session", "it loops")

    with serving(lambda *_: refused(), boot) as shim:
        shim.read()
        shim.send({"type": "boot", "id": "1", "host": HOST, "tools": []})
        response = shim.read()

    failure = {"kind": "refused", "message": "unreadable_session: it loops"}
    assert response == {"id": "1", "ok": False, "failure": failure}


def test_live_entries_grow_until_a_reset_and_belong_to_later_requests() -> None:
    seen: list[tuple[int, list[bytes]]] = []

    def call(host: HostCall, *_: Any) -> Answer:
        assert host.live is not None
        seen.append((host.live.generation, host.live.lines))
        return refused()

    def ask(shim: Shim, request_id: str) -> None:
        host = {**HOST, "live": True}
        request = {"type": "call", "id": request_id, "operation": "o", "arguments": {}}
        shim.send({**request, "host": host})
        assert shim.read()["ok"]

    with serving(call) as shim:
        shim.read()
        shim.send({"type": "entries", "reset": True, "entries": ["header", "a\\ud800"]})
        ask(shim, "1")
        shim.send({"type": "entries", "reset": False, "entries": ["ü\u2028" + "[" * 5000]})
        ask(shim, "2")
        shim.send({"type": "entries", "reset": True, "entries": ["other"]})
        ask(shim, "3")

    generations = [generation for generation, _ in seen]
    first = [b"header", b"a\\ud800"]
    assert [lines for _, lines in seen] == [
        first,
        [*first, "ü\u2028".encode() + b"[" * 5000],
        [b"other"],
    ]
    assert generations[0] == generations[1] < generations[2]


def test_lone_surrogates_are_replaced_one_for_one() -> None:
    seen: list[Mapping[str, Any]] = []

    def call(_: HostCall, __: str, arguments: Mapping[str, Any]) -> Answer:
        seen.append(arguments)
        return refused()

    with serving(call) as shim:
        shim.read()
        shim.call("1", content="a\ud800b")
        assert shim.read()["ok"]

    assert seen == [{"content": "a\ufffdb"}]


@pytest.mark.parametrize(
    "line",
    [
        b'{"id": "9", "type": "call"}',
        b'{"id":"9","type":"other"}',
        b'{"id": "9", "type": "status", "more": 1}',
        b'{"id": "9", "type": "status"',
        b'{"id": "9", "type": "status", "x": {"y": %s}}' % (b"[" * 5000 + b"]" * 5000),
    ],
)
def test_what_is_no_request_fails_by_its_id(line: bytes) -> None:
    with serving(lambda *_: refused()) as shim:
        shim.read()
        shim.send(line)
        response = shim.read()

    assert response["id"] == "9"
    assert response["failure"]["kind"] == "request"


@pytest.mark.parametrize("line", [b"{", b"[]", b"\xff", b"[" * 100_000, b'{"id": 1}', b""])
def test_a_line_without_an_id_is_skipped(line: bytes) -> None:
    with serving(lambda *_: refused()) as shim:
        shim.read()
        shim.send(line, {"type": "status", "id": "9"})
        response = shim.read()

    assert response["id"] == "9"
    assert response["value"]["version"] == "1"
