"""Output that nobody reads to its end (``| head -1``), or that cannot be written."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest

UNREAD = 141

START = """
import sys
from pathlib import Path
home = Path(sys.argv.pop(1))
for name in ("home", "project", "trust"):
    module = __import__(f"hindnote.core.places.{name}", fromlist=["person_home"])
    module.person_home = lambda: home
from hindnote.core.cli.app import run
run()
"""
"""The command line of a person whose home directory is the first argument."""

HOSTS = sorted(
    entry.name.removeprefix("install.")
    for entry in entry_points(group="hindnote.commands")
    if entry.name.startswith("install.")
)

Arguments = list[str]

SESSION = "".join(
    f"{json.dumps(row)}\n"
    for row in (
        {"type": "session", "version": 3, "id": "aaaaaaaa-1", "cwd": "/w"},
        {
            "type": "message",
            "id": "e1",
            "parentId": None,
            "message": {"role": "user", "content": "hello"},
        },
    )
)

TODO = ["todo", "create", "Fix the login"]
WRITE = ["call", "notes_write", '{"address": "@human/plan", "content": "Ship it."}']
EDIT = '{"address": "@human/plan", "edits": [{"old_text": "it", "new_text": "now"}]}'
TRUST = ["home", "trust", "app/notes"]

CHANGES: dict[str, tuple[list[Arguments], Arguments]] = {
    **{f"install {host}": ([], ["install", host]) for host in HOSTS},
    **{f"uninstall {host}": ([["install", host]], ["uninstall", host]) for host in HOSTS},
    "home trust": ([], TRUST),
    "home distrust": ([TRUST], ["home", "distrust", "app/notes"]),
    "todo create": ([], TODO),
    "todo create --json": ([], [*TODO, "--json"]),
    "todo transition": ([TODO], ["todo", "transition", "1", "ready"]),
    "todo transition --json": ([TODO], ["todo", "transition", "1", "ready", "--json"]),
    "call notes_write": ([], WRITE),
    "call notes_write --structured": ([], [*WRITE, "--structured"]),
    "call notes_update": ([WRITE], ["call", "notes_update", EDIT]),
    "export": ([], ["export", "aaaaaaaa-1", "-o", "session.html", "--redact"]),
    "index --rebuild": ([], ["index", "--rebuild"]),
    "index --delete": ([["index", "--rebuild"]], ["index", "--delete"]),
}
"""Every command that changes something: what must have run before, and its arguments."""


@contextmanager
def unread() -> Iterator[int]:
    """Yield a pipe whose reader left."""
    reading, writing = os.pipe()
    os.close(reading)
    try:
        yield writing
    finally:
        os.close(writing)


@contextmanager
def typed(text: str) -> Iterator[int]:
    """Yield a terminal into which somebody has typed a line."""
    person, terminal = pty.openpty()
    try:
        os.write(person, text.encode())
        yield terminal
    finally:
        os.close(person)
        os.close(terminal)


class Person:
    """A person with a home directory, a project in it, and a recorded session."""

    def __init__(self, home: Path) -> None:
        self.home = home
        (home / "app" / ".git").mkdir(parents=True)
        sessions = home / ".pi" / "agent" / "sessions" / "--w--"
        sessions.mkdir(parents=True)
        (sessions / "2026-11-30T09-00-00-000Z_aaaaaaaa-1.jsonl").write_text(SESSION, "utf-8")

    def run(self, arguments: Arguments, **streams: Any) -> subprocess.CompletedProcess[bytes]:
        measuring = {name: os.environ[name] for name in os.environ if name.startswith("COVERAGE_")}
        with typed("y\n") as terminal:
            return subprocess.run(
                [sys.executable, "-c", START, str(self.home), *arguments],
                stdin=terminal,
                env={
                    "HOME": str(self.home),
                    "PATH": "/nowhere",
                    "XDG_DATA_HOME": str(self.home / "data"),
                    "XDG_CACHE_HOME": str(self.home / "cache"),
                    **measuring,
                },
                cwd=self.home,
                timeout=60,
                check=False,
                **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **streams},
            )

    def do(self, *commands: Arguments) -> None:
        for arguments in commands:
            done = self.run(arguments)
            assert done.returncode == 0, done

    def files(self) -> dict[str, str]:
        """Return the files by name, with what differs between two people and times left out."""
        return {
            _alike(str(path.relative_to(self.home))): _alike(
                _text(path).replace(str(self.home), "~")
            )
            for path in sorted(self.home.rglob("*"))
            if path.is_file()
        }


def _text(path: Path) -> str:
    data = path.read_bytes()
    return "" if b"\0" in data else data.decode("utf-8", "replace")


def _alike(text: str) -> str:
    return re.sub(r"[0-9a-f]{8,}|\d+", "0", text)


@pytest.mark.usefixtures("measured")
@pytest.mark.parametrize("change", CHANGES)
def test_a_change_is_finished_though_nobody_reads_of_it(change: str, tmp_path: Path) -> None:
    before, arguments = CHANGES[change]
    read, unread_by_all = Person(tmp_path / "read"), Person(tmp_path / "unread")
    for person in (read, unread_by_all):
        person.do(*before)
    untouched = read.files()
    read.do(arguments)

    with unread() as output:
        done = unread_by_all.run(arguments, stdout=output)

    assert done.returncode == UNREAD, done.stderr
    assert b"Traceback" not in done.stderr
    assert unread_by_all.files() == read.files()
    assert read.files() != untouched


@pytest.mark.usefixtures("measured")
@pytest.mark.parametrize("change", ["install claude", "todo create", "export", "index --delete"])
def test_a_change_is_finished_though_its_warnings_are_not_read_either(
    change: str, tmp_path: Path
) -> None:
    before, arguments = CHANGES[change]
    read, unread_by_all = Person(tmp_path / "read"), Person(tmp_path / "unread")
    for person in (read, unread_by_all):
        person.do(*before)
    read.do(arguments)

    with unread() as output:
        done = unread_by_all.run(arguments, stdout=output, stderr=output)

    assert done.returncode == UNREAD
    assert unread_by_all.files() == read.files()


@pytest.mark.usefixtures("measured")
def test_a_home_is_not_trusted_when_the_question_cannot_be_seen(tmp_path: Path) -> None:
    person = Person(tmp_path / "person")
    before = person.files()

    with unread() as output:
        done = person.run(TRUST, stderr=output)

    assert done.returncode == UNREAD
    assert person.files() == before


@pytest.mark.usefixtures("measured")
@pytest.mark.parametrize("change", [name for name in CHANGES if name.startswith(("in", "un"))])
def test_a_change_is_finished_though_what_is_said_of_it_does_not_fit_on_the_disk(
    change: str, tmp_path: Path
) -> None:
    before, arguments = CHANGES[change]
    read, unsaid = Person(tmp_path / "read"), Person(tmp_path / "unsaid")
    for person in (read, unsaid):
        person.do(*before)
    read.do(arguments)

    with Path("/dev/full").open("wb") as output:
        done = unsaid.run(arguments, stdout=output.fileno())

    assert done.returncode == 2
    assert b"written" in done.stderr
    assert unsaid.files() == read.files()


def ended(arguments: Arguments, **streams: int) -> subprocess.CompletedProcess[bytes]:
    code = "from hindnote.core.cli.app import run; run()"
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, **streams, timeout=60, check=False)


@pytest.mark.usefixtures("measured")
@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["sessions", "--help"], ["schemas"], ["sessions"], ["sessions", "--json"]],
)
def test_a_reader_that_left_is_no_refusal(arguments: list[str], corpus: Any) -> None:
    """Click and rich would leave with 1 each."""
    corpus.add_pi("aaaaaaaa-1", "one")

    with unread() as output:
        done = ended(arguments, stdout=output, stderr=subprocess.PIPE)

    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.usefixtures("measured")
def test_a_message_that_nobody_reads_is_no_refusal() -> None:
    with unread() as output:
        assert ended(["sessions", "--bogus"], stderr=output).returncode == 141
