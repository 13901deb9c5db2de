"""Several real processes and threads that write notes at once."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

WORKER = """
import sys
from pathlib import Path
from hindnote.core.plugins.models import Identity
from hindnote.core.notes.edits import Replacement
from hindnote.core.notes.store import Store
from hindnote.core.errors import Refused
from hindnote.core.places.database_home import DatabaseHome

place, action, who = sys.argv[1:]
home = DatabaseHome(place) if "://" in place else Path(place)
store = Store(Identity(home, "pi", "s1", "me", "m"), "shop-0123abcd")
note = store.homes.parse("@human/shared")
print("ready", flush=True)
sys.stdin.readline()
"""

WRITES = """
for round in range(int(action)):
    store.write(note, (f"{who}{round}\\n" * 2000), "self")
"""

APPENDS = """
for number in range(int(action)):
    store.update(note, [Replacement("END\\n", f"{who}-{number}\\nEND\\n")])
"""

LETTER_CASE = """
try:
    store.write(store.homes.parse(f"@human/{who}"), who, "self")
    print("created", flush=True)
except Refused as refused:
    print(refused.code, flush=True)
"""

HOLDS = """
from hindnote.core.notes.locks import locked
with locked(home, note.home.folder):
    print("held", flush=True)
    sys.stdin.readline()
"""

DIES = """
import os, signal
from hindnote.core.fs import exchange
def die(*args, **options):
    os.kill(os.getpid(), signal.SIGKILL)
setattr(exchange if action == "exchange" else os, action, die)
store.write(note, "new", "self")
"""


class Workers:
    """Processes that start together; all end with the test."""

    def __init__(self, home: Any) -> None:
        self.home = str(home) if isinstance(home, Path) else home.url
        self.processes: list[subprocess.Popen[str]] = []

    def start(self, script: str, action: object, *names: str) -> list[subprocess.Popen[str]]:
        for name in names:
            process = subprocess.Popen(
                [sys.executable, "-c", WORKER + script, self.home, str(action), name],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            self.processes.append(process)
        for process in self.processes:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        for process in self.processes:
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()
        return self.processes

    def finish(self) -> list[str]:
        return [self._output(process) for process in self.processes]

    def _output(self, process: subprocess.Popen[str]) -> str:
        output, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors
        return output.strip()


@pytest.fixture
def workers(agent: Any) -> Any:
    started = Workers(agent.home)
    yield started
    for process in started.processes:
        if process.poll() is None:
            process.kill()
        process.communicate()


def leftovers(home: Any) -> list[str]:
    if not isinstance(home, Path):
        return []
    return [path.name for path in home.rglob("*") if "hindnote-tmp" in path.name]


def test_of_eight_writers_one_whole_body_wins(agent: Any, workers: Workers) -> None:
    workers.start(WRITES, 3, *"abcdefgh")
    seen = set()
    while any(process.poll() is None for process in workers.processes):
        if agent.path("@human/shared").exists():
            seen.add(agent.read(address="@human/shared", limit_chars=50_000)["text"])
    workers.finish()
    seen.add(agent.read(address="@human/shared", limit_chars=50_000)["text"])

    for body in seen:
        first = body[: body.index("\n") + 1]
        assert re.fullmatch(r"[a-h]\d\n", first)
        assert body == first * 2000
    assert leftovers(agent.home) == []
    assert agent.files() == ["human/shared.md"]


def test_two_processes_append_and_lose_nothing(agent: Any, workers: Workers) -> None:
    agent.write(address="@human/shared", content="END\n")

    workers.start(APPENDS, 100, "a", "b")
    workers.finish()

    lines = agent.read(address="@human/shared")["text"].splitlines()
    assert lines[-1] == "END"
    assert sorted(lines[:-1]) == sorted(f"{who}-{n}" for who in "ab" for n in range(100))
    for who in "ab":
        mine = [line for line in lines if line.startswith(who)]
        assert mine == [f"{who}-{n}" for n in range(100)]


def test_of_two_names_that_collide_elsewhere_one_is_created(agent: Any, workers: Workers) -> None:
    workers.start(LETTER_CASE, "", "Plan", "plan", "PLAN", "pLAN")

    outputs = sorted(workers.finish())

    assert outputs == ["address_collision"] * 3 + ["created"]
    assert len(agent.files()) == 1


@pytest.mark.folder_home
def test_a_killed_holder_of_the_lock_blocks_nobody(agent: Any, workers: Workers) -> None:
    (holder,) = workers.start(HOLDS, "", "x")
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    done = threading.Event()

    def write() -> None:
        agent.write(address="@human/shared", content="after")
        done.set()

    thread = threading.Thread(target=write, daemon=True)
    thread.start()
    assert not done.wait(0.1)
    holder.send_signal(signal.SIGKILL)
    started = time.monotonic()
    thread.join(timeout=8)

    assert done.is_set()
    assert time.monotonic() - started < 8
    assert agent.read(address="@human/shared")["text"] == "after"


@pytest.mark.folder_home
@pytest.mark.parametrize("at", ["fsync", "rename", "utime", "exchange"])
def test_a_writer_killed_anywhere_leaves_the_old_note_whole(
    agent: Any, workers: Workers, at: str
) -> None:
    agent.write(address="@human/shared", content="old")
    before = agent.bytes("@human/shared")

    (process,) = workers.start(DIES, at, "x")
    process.communicate(timeout=60)

    assert process.returncode == -signal.SIGKILL
    assert agent.bytes("@human/shared") == before
    assert agent.addresses() == ["@human/shared.md"]
    agent.write(address="@human/another", content="x")
    assert leftovers(agent.home) == []


def test_threads_of_one_process_lose_nothing(agent: Any) -> None:
    agent.write(address="@human/shared", content="END\n")
    failures: list[BaseException] = []

    def append(who: str) -> None:
        try:
            for number in range(15):
                edit = {"old_text": "END\n", "new_text": f"{who}-{number}\nEND\n"}
                agent.outcome("notes_update", address="@human/shared", edits=[edit])
        except BaseException as error:  # noqa: BLE001 -- shown by the assertion below
            failures.append(error)

    threads = [threading.Thread(target=append, args=(who,)) for who in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)

    assert failures == []
    lines = agent.read(address="@human/shared")["text"].splitlines()
    assert sorted(lines[:-1]) == sorted(f"{who}-{n}" for who in "abcd" for n in range(15))


def test_renames_across_homes_in_both_directions_end(agent: Any) -> None:
    agent.write(address="@human/a", content="a")
    agent.write(address="b", content="b")

    def back_and_forth(here: str, there: str) -> None:
        for _ in range(6):
            agent.outcome("notes_update", address=here, rename_to=there)
            agent.outcome("notes_update", address=there, rename_to=here)

    threads = [
        threading.Thread(target=back_and_forth, args=("@human/a", "a"), daemon=True),
        threading.Thread(target=back_and_forth, args=("b", "@human/b"), daemon=True),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
        assert not thread.is_alive()

    assert sorted(agent.addresses()) == ["@human/a.md", "b.md"]
