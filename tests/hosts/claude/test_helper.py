from __future__ import annotations

import io
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hindnote.core.errors import HostFailure, Refusal, Refused
from hindnote.core.project.run import run_tool
from hindnote.core.tools.operation import ArgumentError
from hindnote.core.tools.outcome import Result, Success, render_refusal, wire
from hindnote.hosts.claude import helper, server
from hindnote.hosts.claude.__main__ import main
from hindnote.hosts.claude.helper import BODY_LIMIT
from hindnote.hosts.claude.http1 import HEAD_LIMIT

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Unix sockets")


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
    sink = io.BytesIO()
    status = helper.one_shot(io.BytesIO(body), sink)
    return status, json.loads(sink.getvalue())


# -- one request ---------------------------------------------------------------


def test_one_shot_answers_with_envelope_and_text_alone(tmp_path: Path, recorder: Recorder) -> None:
    status, response = once(json.dumps(request(tmp_path)).encode())

    assert status == 0
    assert response == {
        "outcome": {"ok": True, "data": {"said": "hello\u2028"}},
        "text": "hello\u2028 text",
        "isError": False,
    }
    assert recorder.calls[0].host == "claude"
    assert recorder.calls[0].call_id == "toolu_1"


def test_a_refusal_is_an_answer(tmp_path: Path, recorder: Recorder) -> None:
    status, response = once(json.dumps(request(tmp_path, do="refuse")).encode())

    assert status == 0
    assert response["isError"] is True
    assert response["outcome"] == {
        "ok": False,
        "error": {"code": "not_found", "message": "no such note"},
    }
    assert response["text"] == "error: not_found: no such note"


def test_a_project_tool_is_answered_with_its_text_alone(tmp_path: Path, recorder: Recorder) -> None:
    asked = {"kind": "project", "tool": "project_todo_list", "arguments": {}}
    asked["call"] = request(tmp_path)["call"]

    status, response = once(json.dumps(asked).encode())
    wrong = once(json.dumps({**asked, "arguments": {"cwd": "x"}}).encode())
    unknown = once(json.dumps({**asked, "tool": "notes_list"}).encode())

    answer = run_tool("project_todo_list", {}, base_cwd=tmp_path)
    assert status == 0
    assert response == {"text": answer.text, "isError": True}
    assert (wrong[0], wrong[1]["failure"]["kind"]) == (2, "arguments")
    assert (unknown[0], unknown[1]["failure"]["kind"]) == (2, "host")


@pytest.mark.parametrize(
    ("do", "kind", "message"),
    [
        ("bad arguments", "arguments", "notes_list: invalid arguments: x"),
        ("host failure", "host", "no host"),
    ],
)
def test_a_failure_is_told_from_a_refusal(
    tmp_path: Path, recorder: Recorder, do: str, kind: str, message: str
) -> None:
    status, response = once(json.dumps(request(tmp_path, do=do)).encode())

    assert status == 2
    assert response == {"failure": {"kind": kind, "message": message}}


def test_a_crash_is_logged_and_its_text_kept_from_the_model(
    tmp_path: Path, recorder: Recorder, capsys: pytest.CaptureFixture[str]
) -> None:
    status, response = once(json.dumps(request(tmp_path, do="crash")).encode())

    assert status == 2
    assert response["failure"]["kind"] == "crash"
    assert "secret" not in response["failure"]["message"]
    assert "RuntimeError: secret in the trace" in capsys.readouterr().err


def test_the_boot_block_is_a_text(tmp_path: Path, recorder: Recorder) -> None:
    asked = {
        "kind": "boot",
        "call": {"session_id": "s1", "cwd": str(tmp_path)},
        "tools": ["notes_list"],
    }

    assert once(json.dumps(asked).encode()) == (0, {"text": "what there is for ['notes_list']"})
    assert recorder.calls[0].session_id == "s1"


def test_a_boot_block_that_is_refused_is_a_failure(tmp_path: Path, recorder: Recorder) -> None:
    asked = {
        "kind": "boot",
        "call": {"session_id": "broken", "cwd": str(tmp_path)},
        "tools": [],
    }

    status, response = once(json.dumps(asked).encode())

    assert status == 2
    assert response["failure"] == {
        "kind": "host",
        "message": "unreadable_session: no session of this host",
    }


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"\xff\xfe",
        b"[" * 100_000,
        b"{}",
        b'{"kind": "other"}',
        b'{"kind": "call"}',
        b'{"kind": "call", "operation": "notes_list", "arguments": [], "call": {"cwd": "/"}}',
        b'{"kind": "call", "operation": "notes_list", "arguments": {}, "call": {}}',
        b'{"kind": "call", "operation": "notes_list", "arguments": {}, "call": {"cwd": "/"}, "x": 1}',
        b'{"kind": "call", "operation": "notes_list", "arguments": {}, "call": {"cwd": "/", "y": 1}}',
        b'{"kind": "boot", "call": 3, "tools": []}',
        b'{"kind": "boot", "call": {"cwd": "/"}, "tools": [3]}',
    ],
)
def test_a_malformed_request_is_refused_with_the_reason(body: bytes, recorder: Recorder) -> None:
    status, response = once(body)

    assert status == 2
    assert response["failure"]["kind"] == "request"
    assert recorder.calls == []


@pytest.mark.parametrize(
    "arguments",
    [["serve"], ["other"], ["serve", "--socket"], ["serve", "--socket", "/x", "--parent", "x"]],
)
def test_wrong_usage_says_what_is_right(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    assert "usage: python -m hindnote.hosts.claude" in capsys.readouterr().err


def test_the_helper_loads_no_command_line_library() -> None:
    code = (
        "import sys, hindnote.hosts.claude.__main__, hindnote.hosts.claude.helper as h\n"
        "import hindnote.hosts.claude.server, hindnote.core.call, hindnote.core.plugins\n"
        "print(sorted({'click', 'rich', 'asyncio', 'http.server', 'sqlite3'} & set(sys.modules)))"
    )

    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )

    assert done.stdout.strip() == "[]"


# -- the resident server -------------------------------------------------------


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
        assert process.stdout.readline() == helper.READY
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def test_the_socket_lies_in_a_folder_for_this_user_alone(folder: Path, start: Start) -> None:
    start()

    assert folder.stat().st_mode & 0o777 == 0o700
    assert exchange(folder / "s", b"GET /alive HTTP/1.1\r\n\r\n").startswith(b"HTTP/1.1 200 OK")


def test_the_server_removes_what_a_killed_one_left_and_no_living_one(
    folder: Path, start: Start
) -> None:
    abandoned = folder.with_name(f"{folder.name}-abandoned")
    abandoned.mkdir(mode=0o700)
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(abandoned / "s"))
    neighbor = folder.with_name(f"{folder.name}-living")
    neighbor.mkdir(mode=0o700)
    with socket.socket(socket.AF_UNIX) as living:
        living.bind(str(neighbor / "s"))
        living.listen()
        start()

    assert not abandoned.exists()
    assert (neighbor / "s").exists()
    (neighbor / "s").unlink()
    neighbor.rmdir()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_the_server_ends_when_asked_to_and_leaves_nothing(
    folder: Path, start: Start, number: signal.Signals
) -> None:
    process = start()

    process.send_signal(number)

    assert process.wait(10) == 0
    assert not folder.exists()


def test_the_server_ends_when_its_parent_is_gone(folder: Path, start: Start) -> None:
    parent = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    process = start("--parent", str(parent.pid))

    parent.kill()
    parent.communicate()

    assert process.wait(5) == 0
    assert not folder.exists()


def test_the_server_ends_when_its_parent_was_gone_before(start: Start) -> None:
    parent = subprocess.Popen([sys.executable, "-c", ""])
    parent.wait()

    assert start("--parent", str(parent.pid)).wait(10) == 0


def test_the_server_looks_for_its_parent_where_the_system_cannot_tell(
    folder: Path, start: Start
) -> None:
    parent = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    code = "import os, sys\nsys.platform = 'other'\n" + SERVE
    process = start("--parent", str(parent.pid), code=code)

    parent.kill()
    parent.communicate()

    assert process.wait(5) == 0


def test_the_server_ends_when_nobody_asks(folder: Path, start: Start) -> None:
    assert start("--idle", "0.2").wait(10) == 0
    assert not folder.exists()


def test_a_folder_open_to_others_is_refused(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder.mkdir(mode=0o755)

    assert helper.resident(str(folder / "s"), os.getpid(), 1, io.BytesIO()) == 1
    assert "not private" in capsys.readouterr().err


def test_a_linked_folder_is_refused(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tmp_path.chmod(0o700)
    folder.symlink_to(tmp_path)

    assert helper.resident(str(folder / "s"), os.getpid(), 1, io.BytesIO()) == 1
    assert capsys.readouterr().err
    folder.unlink()


def test_a_socket_path_too_long_is_a_failure_with_the_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert helper.resident(str(tmp_path / ("x" * 120) / "s"), os.getpid(), 1, io.BytesIO()) == 1
    assert "cannot serve" in capsys.readouterr().err


def test_a_system_without_unix_sockets_is_a_failure_with_the_reason(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delattr(socket, "AF_UNIX")

    assert helper.resident(str(folder / "s"), os.getpid(), 1, io.BytesIO()) == 1
    assert "no Unix sockets" in capsys.readouterr().err
    assert not folder.exists()


# -- the server in this process ------------------------------------------------


@pytest.fixture
def serving(folder: Path, recorder: Recorder, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A server in a thread of the test, answering with the recorder."""
    reader, writer = socket.socketpair()

    class Ended:
        def __enter__(self) -> socket.socket:
            return reader

        def __exit__(self, *_: object) -> None:
            reader.close()

    monkeypatch.setattr(server, "_signals", Ended)
    listening = threading.Event()
    running = server.Server(folder / "s", os.getpid(), 60, helper.answer, BODY_LIMIT)
    thread = threading.Thread(target=running.run, args=(listening.set,))
    thread.start()
    assert listening.wait(10)
    yield folder / "s"
    writer.close()
    thread.join(10)
    assert not thread.is_alive()


def test_the_server_answers_what_the_one_shot_answers(
    tmp_path: Path, serving: Path, recorder: Recorder
) -> None:
    for do in (None, "refuse", "bad arguments", "host failure"):
        body = json.dumps(request(tmp_path, do=do)).encode()

        status, answer = post(serving, body)

        code, alone = once(body)
        assert json.loads(answer) == alone
        assert (status == 200) == (code == 0)


def test_requests_are_answered_in_parallel(
    tmp_path: Path, serving: Path, recorder: Recorder
) -> None:
    """Each of the three waits until all of them are being answered."""
    body = json.dumps(request(tmp_path, do="meet")).encode()
    statuses: list[int] = []
    threads = [
        threading.Thread(target=lambda: statuses.append(post(serving, body)[0])) for _ in range(3)
    ]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)

    assert statuses == [200, 200, 200]


def test_a_long_answer_is_fetched_later(
    tmp_path: Path, serving: Path, recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "HOLD", 0.01)
    status, path = post(serving, json.dumps(request(tmp_path, do="meet")).encode())
    assert (status, path) == (202, b"/later/1")
    again = b"GET " + path + b" HTTP/1.1\r\n\r\n"
    assert exchange(serving, again).startswith(b"HTTP/1.1 202 ")

    monkeypatch.setattr(server, "HOLD", 10)
    for _ in range(2):
        threading.Thread(target=recorder.barrier.wait, args=(10,)).start()
    head, _, answer = exchange(serving, again).partition(b"\r\n\r\n")

    assert head.startswith(b"HTTP/1.1 200 ")
    assert json.loads(answer)["text"] == "hello\u2028 text"
    assert exchange(serving, again).startswith(b"HTTP/1.1 404 ")


def test_an_answer_that_nobody_comes_back_for_is_dropped(
    tmp_path: Path, serving: Path, recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "HOLD", 0)
    body = json.dumps(request(tmp_path)).encode()
    path = b"/later/1"
    status, _ = post(serving, body)
    again = b"GET " + path + b" HTTP/1.1\r\n\r\n"
    assert status in (200, 202)

    monkeypatch.setattr(server, "KEPT", -10)

    def dropped() -> bool:
        post(serving, body)
        return exchange(serving, again).startswith(b"HTTP/1.1 404 ")

    wait_until(dropped)


def test_a_body_over_the_limit_is_refused_before_it_is_read(serving: Path) -> None:
    head = f"POST / HTTP/1.1\r\nContent-Length: {BODY_LIMIT + 1}\r\n\r\n".encode()

    head, _, answer = exchange(serving, head).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 413 ")
    assert "at most 4194304" in json.loads(answer)["failure"]["message"]


def test_a_request_over_the_limit_is_refused_by_the_one_shot(recorder: Recorder) -> None:
    status, response = once(b" " * (BODY_LIMIT + 1))

    assert status == 2
    assert "at most 4194304" in response["failure"]["message"]


def test_a_body_at_the_limit_is_read(serving: Path) -> None:
    status, answer = post(serving, b" " * BODY_LIMIT)

    assert status == 400
    assert json.loads(answer)["failure"]["kind"] == "request"


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"\r\n\r\n", 400),
        (b"POST / SPDY\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", 411),
        (b"POST /other HTTP/1.1\r\nContent-Length: 0\r\n\r\n", 404),
        (b"GET / HTTP/1.1\r\n\r\n", 404),
        (b"GET /alive HTTP/1.1\r\nX: " + b"x" * (HEAD_LIMIT + 70_000), 413),
    ],
)
def test_a_request_that_is_none_is_refused(serving: Path, data: bytes, status: int) -> None:
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(10)
        client.connect(str(serving))
        client.sendall(data)
        assert int(client.recv(1000).split()[1]) == status


def test_a_client_that_goes_away_disturbs_nobody(serving: Path, tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(serving))
        client.sendall(b"POST / HTTP/1.1\r\nContent-Length: 100\r\n\r\n{")

    status, _ = post(serving, json.dumps(request(tmp_path)).encode())

    assert status == 200
