from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from hindnote.core.notes import access, note


def known(agent: Any, address: str) -> tuple[int, int] | None:
    """Return how often a note was read, and when last, as the database says."""
    file = agent.home / ".hindnote/access.sqlite3"
    if not file.is_file():
        return None
    path = "/".join(agent.store.homes.parse(address).segments)
    with closing(sqlite3.connect(file, timeout=0)) as database:
        return database.execute("SELECT count, last FROM access WHERE path = ?", [path]).fetchone()


def counted(agent: Any, address: str) -> int | None:
    found = known(agent, address)
    return None if found is None else found[0]


def test_reads_are_counted_beside_the_notes(agent: Any) -> None:
    agent.put("@human/a", "body")
    assert counted(agent, "@human/a") is None

    for _ in range(3):
        agent.read(address="@human/a")
    agent.list()
    agent.search(query="body")

    found = known(agent, "@human/a")
    assert found is not None
    assert found[0] == 3
    assert found[1] > 0
    assert agent.files() == ["human/a.md"]


def test_a_refused_read_does_not_count(agent: Any) -> None:
    agent.put("@human/a", "body")

    agent.refused("read", address="@human/a", offset_chars=9)

    assert counted(agent, "@human/a") is None


@pytest.mark.parametrize(("seed", "expected"), [("7", 8), ("-1", 1), ("many", 1), ("true", 1)])
def test_a_count_in_the_file_is_the_seed(agent: Any, seed: str, expected: int) -> None:
    agent.put("@human/a", f"---\naccessCount: {seed}\n---\nbody")

    agent.read(address="@human/a")

    assert counted(agent, "@human/a") == expected


def test_a_count_moves_with_its_note(agent: Any) -> None:
    agent.put("@human/a", "body")
    agent.read(address="@human/a")

    agent.update(address="@human/a", rename_to="b")

    assert counted(agent, "@human/a") is None
    assert counted(agent, "b") == 1


@pytest.mark.parametrize("trouble", ["garbage", "full folder", "locked", "error"])
def test_trouble_with_counts_never_fails_a_read(
    agent: Any, monkeypatch: pytest.MonkeyPatch, trouble: str
) -> None:
    agent.put("@human/a", "body")
    state = agent.home / ".hindnote"
    state.mkdir()
    file = state / "access.sqlite3"
    holder = None
    if trouble == "garbage":
        file.write_bytes(b"no database" * 100)
    elif trouble == "full folder":
        (file / "theirs").mkdir(parents=True)
    elif trouble == "locked":
        monkeypatch.setattr(access, "BUSY_SECONDS", 0.01)
        holder = sqlite3.connect(file)
        holder.execute("BEGIN EXCLUSIVE")
    else:
        monkeypatch.setattr(access, "state_folder", _denied)

    assert agent.read(address="@human/a")["text"] == "body"
    with suppress(sqlite3.Error):
        assert known(agent, "@human/a") is None
    if holder is not None:
        holder.close()


OTHER_KINDS: dict[str, Callable[[Path, Path], None]] = {
    "folder": lambda place, _: place.mkdir(),
    "pipe": lambda place, _: os.mkfifo(place),
    "pipe that only reads": lambda place, _: os.mkfifo(place, 0o444),
    "link": lambda place, outside: place.symlink_to(outside),
    "link to a folder": lambda place, outside: place.symlink_to(outside.parent),
    "circle": lambda place, _: place.symlink_to(place),
}


@pytest.mark.parametrize("kind", OTHER_KINDS)
@pytest.mark.parametrize("suffix", ["", "-wal", "-shm", "-journal"])
def test_what_is_no_file_in_its_place_gives_way_to_counting(
    agent: Any, kind: str, suffix: str
) -> None:
    agent.put("@human/a", "body")
    agent.read(address="@human/a")
    access.close()
    place, outside = agent.home / f".hindnote/access.sqlite3{suffix}", agent.home.parent / "outside"
    place.unlink(missing_ok=True)
    OTHER_KINDS[kind](place, outside)

    assert agent.read(address="@human/a")["text"] == "body"

    assert counted(agent, "@human/a") == (2 if suffix else 1)
    assert not outside.exists()


def test_counting_keeps_no_files_beside_its_own(agent: Any) -> None:
    agent.put("@human/a", "body")

    for _ in range(2):
        agent.read(address="@human/a")
        names = sorted(path.name for path in (agent.home / ".hindnote").iterdir())
        assert names == [".gitignore", "access.sqlite3"]


@pytest.mark.parametrize("value", ["9223372036854775807", "-1", "1.5", "'many'", "x'ff'"])
def test_a_count_that_nobody_counted_begins_anew(agent: Any, value: str) -> None:
    agent.put("@human/a", "body")
    agent.read(address="@human/a")
    access.close()
    with closing(sqlite3.connect(agent.home / ".hindnote/access.sqlite3")) as database, database:
        database.execute(f"UPDATE access SET count = {value}, last = {value}")

    for _ in range(3):
        agent.read(address="@human/a")

    found = known(agent, "@human/a")
    assert found is not None
    assert found[0] == 3
    assert isinstance(found[1], int)


def _denied(*_: Any) -> Any:
    raise PermissionError(13, "Permission denied")


def test_counting_goes_on_when_the_database_was_taken_away(agent: Any) -> None:
    agent.put("@human/a", "body")
    agent.read(address="@human/a")
    for file in (agent.home / ".hindnote").glob("access.sqlite3*"):
        file.unlink()

    agent.read(address="@human/a")

    assert counted(agent, "@human/a") == 1


def scribble(file: Path) -> None:
    """Leave a database's head as it is, and nothing else."""
    data = file.read_bytes()
    file.write_bytes(data[:100] + b"\xff" * (len(data) - 100))


def replace_tables(file: Path) -> None:
    file.unlink()
    with closing(sqlite3.connect(file)) as database, database:
        database.execute("CREATE TABLE access (something TEXT)")


def misspell(file: Path) -> None:
    """Damage a statement that SQLite quotes in its error."""
    file.write_bytes(file.read_bytes().replace(b"CREATE TABLE", b"CREATE\xffTABLE"))


DAMAGES = [
    lambda file: file.write_bytes(b"no database" * 100),
    lambda file: file.write_bytes(file.read_bytes()[:50]),
    scribble,
    replace_tables,
    misspell,
]


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_database_is_thrown_away_and_counting_begins_anew(
    agent: Any, damage: Callable[[Path], object]
) -> None:
    agent.put("@human/a", "body")
    agent.read(address="@human/a")
    access.close()
    file = agent.home / ".hindnote/access.sqlite3"
    damage(file)

    for _ in range(4):
        assert agent.read(address="@human/a")["text"] == "body"

    # The reads that found the damage, one or two, are not counted.
    assert counted(agent, "@human/a") in (2, 3)
    access.close()
    with closing(sqlite3.connect(file)) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_a_busy_database_is_not_thrown_away(agent: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    agent.put("@human/a", "body")
    agent.read(address="@human/a")
    monkeypatch.setattr(access, "BUSY_SECONDS", 0.01)
    access.close()

    with closing(sqlite3.connect(agent.home / ".hindnote/access.sqlite3")) as holder:
        holder.execute("BEGIN EXCLUSIVE")
        agent.read(address="@human/a")

    assert counted(agent, "@human/a") == 1


COUNTS = """
import sys
from pathlib import Path
from hindnote.core.notes import access
sys.stdin.readline()
for _ in range(50):
    access.touch(Path(sys.argv[1]), ("human", "a.md"), {})
"""


def test_processes_that_find_a_damaged_database_at_once_all_count_on(agent: Any) -> None:
    file = agent.home / ".hindnote/access.sqlite3"
    file.parent.mkdir(parents=True)
    file.write_bytes(b"no database" * 100)
    command = [sys.executable, "-c", COUNTS, str(agent.home)]
    workers = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(4)
    ]

    for worker in workers:
        assert worker.stdin is not None
        worker.stdin.write(b"\n")
        worker.stdin.flush()
    errors = [worker.communicate(timeout=60)[1] for worker in workers]

    assert errors == [b""] * 4
    count = counted(agent, "@human/a")
    assert count is not None
    # Each may lose the count with which it found the damage, and one that it could not wait for.
    assert 100 <= count <= 200
    access.close()
    with closing(sqlite3.connect(file)) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_reads_from_several_threads_are_all_counted(agent: Any) -> None:
    agent.put("@human/a", "body")

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: agent.read(address="@human/a"), range(40)))

    assert counted(agent, "@human/a") == 40


def test_the_keys_of_an_earlier_tools_counts_are_not_owned() -> None:
    assert note.COUNTS.isdisjoint(note.OWNED)
