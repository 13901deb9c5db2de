"""Starts of the resident helper beside others: living, stopped, killed, and many at once."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from helper_process import SERVE, Start, exchange, wait_until

from hindnote.hosts.claude import helper
from hindnote.hosts.claude.sockets import UNUSED_SECONDS, listening, sweep

ALIVE = b"GET /alive HTTP/1.1\r\n\r\n"


@pytest.fixture
def beside(folder: Path) -> Iterator[Path]:
    """Return a folder that lies beside the one of the helper under test."""
    path = folder.with_name(f"{folder.name}-beside")
    yield path
    if path.exists():
        for left in path.iterdir():
            left.unlink()
        path.rmdir()


def test_a_start_removes_what_a_killed_helper_left(beside: Path, start: Start) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", SERVE, "serve", "--socket", str(beside / "s")],
        stdout=subprocess.PIPE,
    ) as killed:
        assert killed.stdout is not None
        assert killed.stdout.readline() == helper.READY
        killed.kill()
    assert (beside / "s").exists()

    start()

    assert not beside.exists()


def test_a_start_leaves_a_living_helper_alone_and_asks_it_nothing(
    beside: Path, start: Start
) -> None:
    with listening(beside / "s") as living:
        start()

        assert (beside / "s").exists()
        with pytest.raises(BlockingIOError):
            living.accept()


def test_a_start_beside_a_stopped_helper_with_a_full_queue_is_ready_in_time(
    beside: Path, start: Start
) -> None:
    """Whoever asks such a helper whether it lives would wait until it goes on."""
    with ExitStack() as clients, listening(beside / "s"):
        while True:
            client = clients.enter_context(socket.socket(socket.AF_UNIX))
            client.setblocking(False)
            if client.connect_ex(str(beside / "s")):
                break
        started = time.monotonic()

        start()

        # The mod waits for five seconds.
        assert time.monotonic() - started < 5
        assert (beside / "s").exists()


def test_an_empty_folder_is_a_leftover_only_after_long(beside: Path) -> None:
    beside.mkdir(mode=0o700)
    sweep(beside.parent)
    assert beside.exists()

    old = time.time() - UNUSED_SECONDS - 1
    os.utime(beside, (old, old))
    sweep(beside.parent)
    assert not beside.exists()


def test_two_helpers_never_share_a_folder(
    folder: Path, start: Start, capsys: pytest.CaptureFixture[str]
) -> None:
    start()

    assert helper.resident(str(folder / "s"), os.getpid(), 1, sys.stdout.buffer) == 1

    assert "another helper has this folder" in capsys.readouterr().err
    assert exchange(folder / "s", ALIVE).startswith(b"HTTP/1.1 200 ")


# -- many at once ------------------------------------------------------------------

STARTS = """
import os, sys
from pathlib import Path
from hindnote.hosts.claude.server import Server

base, count, group = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
failed = 0

def child(path, gate, told):
    # All of a group start at the same moment.
    os.read(gate, 1)
    def ready():
        os.write(told, b"r")
    try:
        Server(Path(path), os.getppid(), 60, lambda body: (200, body), 1000).run(ready)
    except BaseException as error:
        os.write(2, repr(error).encode())
        os.write(told, b"f")
    os._exit(0)

def ask(path):
    import socket
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(10)
        client.connect(path)
        client.sendall(b"GET /alive HTTP/1.1\\r\\n\\r\\n")
        return client.recv(100).startswith(b"HTTP/1.1 200 ")

for first in range(0, count, group):
    paths = [f"{base}/hindnote-{number}/s" for number in range(first, min(first + group, count))]
    gate, opens = os.pipe()
    tells, told = os.pipe()
    children = []
    for path in paths:
        pid = os.fork()
        if pid == 0:
            os.close(opens)
            child(path, gate, told)
        children.append(pid)
    os.close(gate), os.close(opens)
    answers = b""
    while len(answers) < len(paths):
        answers += os.read(tells, 100)
    failed += answers.count(b"f")
    failed += sum(not ask(path) for path in paths)
    os.close(tells), os.close(told)
    for number, pid in enumerate(children):
        # Every second one is killed, so that those who come next find something to remove.
        os.kill(pid, 9 if number % 2 else 15)
    for pid in children:
        os.waitpid(pid, 0)
print(failed)
"""


@pytest.mark.campaign
def test_starts_at_the_same_moment_never_fail(
    folder: Path, rounds: Callable[[int], int], group: int = 25
) -> None:
    folder.mkdir(mode=0o700)
    try:
        done = subprocess.run(
            [sys.executable, "-c", STARTS, str(folder), str(rounds(1_000)), str(group)],
            capture_output=True,
            text=True,
            timeout=300,
            check=True,
        )
        sweep(folder)
    finally:
        left = sorted(folder.iterdir())
        for each in left:
            (each / "s").unlink(missing_ok=True)
            each.rmdir()

    assert done.stdout == "0\n", done.stderr
    assert left == []


# -- out of descriptors --------------------------------------------------------------

FEW = "import resource\nresource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))\n"


def processor_seconds(pid: int) -> float:
    """Return the processor time that a process has taken so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_helper_without_descriptors_waits_and_goes_on_when_there_are_some(
    folder: Path, start: Start
) -> None:
    process = start(code=FEW + SERVE)
    descriptors = Path(f"/proc/{process.pid}/fd")
    with ExitStack() as clients:
        for _ in range(100):
            client = clients.enter_context(socket.socket(socket.AF_UNIX))
            client.connect(str(folder / "s"))
        wait_until(lambda: len(list(descriptors.iterdir())) == 64)
        before = processor_seconds(process.pid)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(1)

        # One that spins takes the whole second.
        assert processor_seconds(process.pid) - before < 0.2

    assert exchange(folder / "s", ALIVE).startswith(b"HTTP/1.1 200 ")
    process.send_signal(signal.SIGTERM)
    assert process.wait(10) == 0
