"""The resident helper: a small server on a Unix socket."""

from __future__ import annotations

import io
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from helper_process import SERVE, Recorder, Start, exchange, once, post, request, wait_until

from hindnote.hosts.claude import helper, server
from hindnote.hosts.claude.helper import BODY_LIMIT
from hindnote.hosts.claude.http1 import HEAD_LIMIT

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Unix sockets")


def test_the_socket_lies_in_a_folder_for_this_user_alone(folder: Path, start: Start) -> None:
    start()

    assert folder.stat().st_mode & 0o777 == 0o700
    assert exchange(folder / "s", b"GET /alive HTTP/1.1\r\n\r\n").startswith(b"HTTP/1.1 200 OK")


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


@pytest.mark.parametrize("lacking", ["_serve", "_work"])
def test_a_request_is_answered_though_no_thread_can_be_had_at_first(
    tmp_path: Path,
    serving: Path,
    recorder: Recorder,
    monkeypatch: pytest.MonkeyPatch,
    lacking: str,
) -> None:
    body = json.dumps(request(tmp_path)).encode()
    really, failures = threading.Thread.start, iter(range(3))

    def start(thread: threading.Thread) -> None:
        if thread.name.endswith(f"({lacking})") and next(failures, None) is not None:
            raise RuntimeError("can't start new thread")
        really(thread)

    monkeypatch.setattr(threading.Thread, "start", start)

    assert post(serving, body)[0] == 200
    assert len(recorder.calls) == 1
