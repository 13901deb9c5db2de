"""The resident helper as most requests find it: started and taken down again for each test."""

from __future__ import annotations

import io
import json
import os
import select
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from hindnote.core.errors import HostFailure, Refusal, Refused
from hindnote.core.project.run import run_tool
from hindnote.core.tools.operation import ArgumentError
from hindnote.core.tools.outcome import Result, Success, render_refusal, wire
from hindnote.hosts.claude import helper, server
from hindnote.hosts.claude.helper import BODY_LIMIT


class Echo(Result):
    said: str


class Recorder:
    """Stands for the dispatcher: answers, refuses or fails as its arguments say."""

    def __init__(self) -> None:
        self.calls: list[Any] = []
        self.barrier = threading.Barrier(3)

    def call(self, call: Any, name: str, arguments: dict[str, Any]) -> Any:
        from hindnote.core.call import Answer

        self.calls.append(call)
        match arguments.get("do"):
            case "meet":
                self.barrier.wait(10)
            case "refuse":
                refusal = Refusal("not_found", "no such note")
                return Answer(name, refusal, wire(refusal), render_refusal(refusal))
            case "bad arguments":
                raise ArgumentError("notes_list: invalid arguments: x")
            case "host failure":
                raise HostFailure("no host")
            case "crash":
                raise RuntimeError("secret in the trace")
        outcome = Success(Echo(said="hello\u2028"), {"before": "b" * 100})
        return Answer(name, outcome, wire(outcome), "hello\u2028 text", outcome.extras)

    def project(self, call: Any, name: str, arguments: dict[str, Any]) -> Any:
        return run_tool(name, arguments, base_cwd=call.cwd)

    def boot(self, call: Any, tools: list[str]) -> str:
        self.calls.append(call)
        if call.session_id == "broken":
            raise Refused("unreadable_session", "no session of this host")
        return f"what there is for {tools}"


@pytest.fixture
def recorder(monkeypatch: pytest.MonkeyPatch) -> Recorder:
    recorder = Recorder()
    monkeypatch.setattr(helper, "_dispatcher", lambda: recorder)
    return recorder


def request(tmp_path: Path, **arguments: Any) -> dict[str, Any]:
    call = {"session_id": "s1", "cwd": str(tmp_path), "call_id": "toolu_1"}
    return {"kind": "call", "operation": "notes_list", "arguments": arguments, "call": call}


def once(body: bytes) -> tuple[int, dict[str, Any]]:
    """Ask the helper for one answer, in this process."""
    sink = io.BytesIO()
    status = helper.one_shot(io.BytesIO(body), sink)
    return status, json.loads(sink.getvalue())


@pytest.fixture
def folder() -> Iterator[Path]:
    """A short path: a Unix socket's may have about a hundred bytes."""
    path = Path("/tmp") / f"hindnote-test-{os.getpid()}-{time.monotonic_ns()}"
    yield path
    if path.exists():
        for left in path.iterdir():
            left.unlink()
        path.rmdir()


def wait_until(holds: Callable[[], bool], seconds: float = 10) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.005)


def exchange(path: Path, data: bytes) -> bytes:
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(10)
        client.connect(str(path))
        client.sendall(data)
        received = b""
        while chunk := client.recv(65536):
            received += chunk
    return received


def post(path: Path, body: bytes) -> tuple[int, bytes]:
    head = f"POST / HTTP/1.1\r\nHost: helper\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    head, _, answer = exchange(path, head + body).partition(b"\r\n\r\n")
    return int(head.split()[1]), answer


READY_SECONDS = 30
"""How long a test waits for a helper to be ready."""

Start = Callable[..., subprocess.Popen[bytes]]

SERVE = (
    "import sys, hindnote.hosts.claude.helper as helper\n"
    "helper._warm_up = lambda: None\n"
    "from hindnote.hosts.claude.__main__ import main\n"
    "sys.exit(main(sys.argv[1:]))"
)
"""The helper without the core, which most of these tests have no use for."""


@pytest.fixture
def start(folder: Path, measured: None) -> Iterator[Start]:
    """Start a resident helper process and wait until it is ready."""
    started: list[subprocess.Popen[bytes]] = []

    def start(*options: str, code: str = SERVE) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-c", code, "serve", "--socket", str(folder / "s"), *options]
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        started.append(process)
        assert process.stdout is not None
        assert select.select([process.stdout], [], [], READY_SECONDS)[0], "not ready in time"
        assert process.stdout.readline() == helper.READY
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


@contextmanager
def served(path: Path) -> Iterator[None]:
    """Let a server answer at a path, in a thread of this process."""
    reader, writer = socket.socketpair()

    class Ended:
        def __enter__(self) -> socket.socket:
            return reader

        def __exit__(self, *_: object) -> None:
            reader.close()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(server, "_signals", Ended)
        listening = threading.Event()
        running = server.Server(path, os.getpid(), 60, helper.answer, BODY_LIMIT)
        thread = threading.Thread(target=running.run, args=(listening.set,))
        thread.start()
        assert listening.wait(10)
        yield
        writer.close()
        thread.join(10)
        assert not thread.is_alive()


@pytest.fixture
def serving(folder: Path, recorder: Recorder) -> Iterator[Path]:
    """A server in a thread of the test, answering with the recorder."""
    with served(folder / "s"):
        yield folder / "s"
