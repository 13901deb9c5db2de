"""The index follows the files, and is made again whenever it is not sound."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hindnote.core.project.documents import index_file
from hindnote.core.project.documents import search as searching

Run = Callable[..., Any]
Write = Callable[..., Path]
Paths = Callable[..., list[str]]


@pytest.fixture
def file(base: Path) -> Path:
    return base / ".hindnote" / "artifacts.sqlite3"


def state(run: Run, **arguments: Any) -> tuple[str, int]:
    told = run("artifact_search", **arguments).dto["data"]["cache_state"]
    return told["state"], told["refreshed"]


def settle(*places: Path) -> None:
    """Give files a time of change that nothing can be confused with."""
    for place in places:
        os.utime(place, ns=(1, 1_600_000_000_000_000_000))


def test_an_index_is_made_once_and_used_afterwards(write: Write, run: Run) -> None:
    settle(write("docs/a.md", "word"), write("docs/b.md", "word"))

    first = run("artifact_search").dto
    again = run("artifact_search").dto

    assert (first["data"]["cache_state"]["state"], first["effects"]["cache"]) == (
        "rebuilt",
        "observed",
    )
    assert (again["data"]["cache_state"]["state"], again["effects"]["cache"]) == ("fresh", "none")
    assert {row["provenance"]["source"] for row in again["data"]["results"]} == {"index"}


def test_changed_new_and_removed_files_are_followed(
    base: Path, write: Write, run: Run, paths: Paths
) -> None:
    settle(write("docs/a.md", "old"), write("docs/b.md", "gone"))
    run("artifact_search")

    settle(write("docs/a.md", "newer"), write("docs/c.md", "fresh"))
    (base / "docs" / "b.md").unlink()

    assert state(run) == ("refreshed", 2)
    assert paths("newer") == ["docs/a.md"]
    assert paths("old") == paths("gone") == []
    assert state(run) == ("fresh", 0)


def test_strict_sees_a_change_that_size_time_and_inode_hide(
    write: Write, run: Run, paths: Paths
) -> None:
    place = write("docs/a.md", "aaaa")
    settle(place)
    run("artifact_search")
    place.write_bytes(b"bbbb")
    settle(place)

    assert paths("bbbb") == []
    assert paths("bbbb", freshness="strict") == ["docs/a.md"]
    assert paths("aaaa") == []


def test_a_file_written_just_now_is_looked_at_again(write: Write, paths: Paths) -> None:
    """Two edits of one size within one tick of the clock."""
    place = write("docs/a.md", "aaaa")
    # In the near future, since a busy machine may take its time until it reads the file.
    stamp = time.time_ns() + 10**12
    os.utime(place, ns=(stamp, stamp))
    assert paths("aaaa") == ["docs/a.md"]
    place.write_bytes(b"bbbb")
    os.utime(place, ns=(stamp, stamp))

    assert paths("bbbb") == ["docs/a.md"]


def test_a_document_may_have_any_inode(
    write: Write, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = write("docs/a.md", "word")
    settle(place)
    real = os.lstat

    def far(*arguments: Any, **options: Any) -> os.stat_result:
        told = list(real(*arguments, **options))
        told[1] = 2**64 - 7
        return os.stat_result(told, {"st_mtime_ns": told[8] * 10**9})

    monkeypatch.setattr(os, "lstat", far)

    assert state(run) == ("rebuilt", 1)
    assert state(run) == ("fresh", 0)
    place.write_text("other")
    assert state(run) == ("refreshed", 1)


def test_a_touched_file_with_the_same_content_is_not_read_anew_for_long(
    write: Write, run: Run
) -> None:
    place = write("docs/a.md", "word")
    settle(place)
    run("artifact_search")
    os.utime(place, ns=(1, 1_700_000_000_000_000_000))

    assert state(run) == ("fresh", 0)
    assert state(run) == ("fresh", 0)


def test_memory_reads_everything_and_leaves_nothing(base: Path, write: Write, run: Run) -> None:
    write("docs/a.md", "word")

    dto = run("artifact_search", query="word", freshness="memory").dto

    assert dto["data"]["cache_state"]["state"] == "memory"
    assert dto["data"]["results"][0]["provenance"]["source"] == "memory"
    assert dto["effects"]["cache"] == "none"
    assert not (base / ".hindnote").exists()


def garbage(file: Path) -> None:
    file.write_bytes(b"no database " * 1000)


def truncated(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:5000])


def holed(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[4096:-4096] = bytes(len(content) - 8192)
    file.write_bytes(content)


def foreign(file: Path) -> None:
    file.unlink()
    with sqlite3.connect(file) as connection:
        connection.execute("CREATE TABLE theirs (x)")
    connection.close()


def of_another_schema(file: Path) -> None:
    with sqlite3.connect(file) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()


def without_a_table(file: Path) -> None:
    with sqlite3.connect(file) as connection:
        connection.execute("DROP TABLE words")
    connection.close()


def misspelt(file: Path) -> None:
    """Damage a statement that SQLite quotes in its error."""
    file.write_bytes(file.read_bytes().replace(b"CREATE TABLE links", b"CREATE\xffTABLE links"))


def with_metadata_that_is_no_json(file: Path) -> None:
    with sqlite3.connect(file) as connection:
        connection.execute("UPDATE contents SET metadata = '{'")
    connection.close()


def empty(file: Path) -> None:
    file.write_bytes(b"")


@pytest.mark.parametrize(
    "damage",
    [
        garbage,
        truncated,
        holed,
        foreign,
        of_another_schema,
        without_a_table,
        misspelt,
        empty,
        Path.unlink,
    ],
)
@pytest.mark.parametrize("tool", ["search", "describe"])
def test_an_index_that_is_not_sound_is_made_again(
    write: Write, run: Run, paths: Paths, file: Path, damage: Callable[[Path], Any], tool: str
) -> None:
    for number in range(50):
        settle(write(f"docs/{number:02}.md", f"word {number} " * 20, f"number: {number}"))
    run("artifact_search")
    damage(file)

    if tool == "describe":
        dto = run("artifact_describe").dto
        assert [row["count"] for row in dto["data"]["observed"]] == [50]
    else:
        dto = run("artifact_search", query="word", limit=100).dto
        assert dto["data"]["cache_state"]["state"] == "rebuilt"
        assert len(dto["data"]["results"]) == 50
    assert dto["effects"]["cache"] == "observed"
    assert state(run) == ("fresh", 0)
    assert len(paths("word", limit=100)) == 50


def test_an_index_that_holds_no_json_is_made_again(
    write: Write, run: Run, paths: Paths, file: Path
) -> None:
    settle(write("docs/a.md", "word"))
    run("artifact_search")
    with_metadata_that_is_no_json(file)

    assert paths("word") == ["docs/a.md"]
    assert state(run) == ("fresh", 0)


def test_rows_that_no_file_stands_behind_are_never_shown(
    write: Write, run: Run, paths: Paths, file: Path
) -> None:
    settle(write("docs/a.md", "word"))
    run("artifact_search")
    with sqlite3.connect(file) as connection:
        connection.execute("UPDATE documents SET path = '../beside/secret.md'")
    connection.close()

    assert paths("word") == ["docs/a.md"]


def test_a_rebuild_can_be_asked_for(write: Write, run: Run) -> None:
    settle(write("docs/a.md", "word"))
    run("artifact_search")

    assert state(run, rebuild=True) == ("rebuilt", 1)


@pytest.mark.parametrize("number", [errno.EACCES, errno.EROFS, errno.ENOSPC])
def test_where_no_index_can_be_kept_one_in_memory_serves(
    write: Write, run: Run, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    write("docs/a.md", "word")

    def refuse(*_: Any, **__: Any) -> int:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(index_file, "open_state", refuse)
    dto = run("artifact_search", query="word").dto

    assert dto["data"]["cache_state"]["state"] == "memory"
    assert os.strerror(number) in dto["data"]["cache_state"]["reason"]
    assert len(dto["data"]["results"]) == 1


def test_a_document_that_goes_away_meanwhile_is_counted(
    write: Write, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("docs/a.md", "word")
    write("docs/b.md", "word")
    real = os.open

    def vanish(path: Any, *arguments: Any, **options: Any) -> int:
        if path == "a.md":
            raise FileNotFoundError(2, "No such file", path)
        return real(path, *arguments, **options)

    monkeypatch.setattr(os, "open", vanish)
    data = run("artifact_search").dto["data"]

    assert [row["path"] for row in data["results"]] == ["docs/b.md"]
    assert data["cache_state"]["unreadable"] == 1


def taken_away(file: Path) -> None:
    file.unlink()


def exchanged(file: Path) -> None:
    garbage(file.with_suffix(".new"))
    file.with_suffix(".new").replace(file)


@pytest.mark.parametrize("meanwhile", [taken_away, exchanged, garbage])
def test_what_another_does_to_the_file_meanwhile_changes_no_answer(
    file: Path, write: Write, run: Run, monkeypatch: pytest.MonkeyPatch, meanwhile: Any
) -> None:
    settle(write("docs/a.md", "word"), write("docs/b.md", "word"))
    run("artifact_search")
    hits = searching._Search._hits

    def after_it(search: Any) -> Any:
        meanwhile(file)
        return hits(search)

    with monkeypatch.context() as patch:
        patch.setattr(searching._Search, "_hits", after_it)
        assert len(run("artifact_search", query="word").dto["data"]["results"]) == 2

    told = run("artifact_search", query="word").dto["data"]
    assert told["cache_state"]["state"] == "rebuilt"
    assert len(told["results"]) == 2


def test_an_index_that_cannot_be_written_serves_from_memory(
    base: Path, write: Write, run: Run, file: Path
) -> None:
    """A folder stands in its place."""
    write("docs/a.md", "word")
    (file / "inside").mkdir(parents=True)

    told = run("artifact_search", query="word").dto["data"]

    assert told["cache_state"]["state"] == "memory"
    assert "no index can be kept on disk" in told["cache_state"]["reason"]
    assert len(told["results"]) == 1


def test_what_a_killed_writer_left_is_removed_by_the_next_one(
    write: Write, run: Run, file: Path
) -> None:
    settle(write("docs/a.md", "word"))
    run("artifact_search")
    old, new = (file.parent / f".{digit * 16}.hindnote-tmp" for digit in "ab")
    for place in (old, new):
        place.write_bytes(b"x")
    settle(old)
    write("docs/b.md", "word")

    run("artifact_search")

    assert not old.exists()
    # A writer may be at work on it.
    assert new.exists()


def test_where_nothing_can_be_locked_an_index_is_kept_all_the_same(
    write: Write, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    settle(write("docs/a.md", "word"))

    def refuse(*_: Any) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", refuse)

    assert state(run) == ("rebuilt", 1)
    assert state(run) == ("fresh", 0)


_ROUNDS = 12
_SEARCHES = f"""
import json, sys
from pathlib import Path
from hindnote.core.project.run import run_tool
base, own = Path(sys.argv[1]), int(sys.argv[2])
for number in range({_ROUNDS}):
    asked = {{"query": "word", "limit": 100, "rebuild": number % 3 == own}}
    dto = run_tool("project_artifact_search", asked, base_cwd=base).dto
    data = dto["data"]
    print(json.dumps([len(data["results"]), data["cache_state"].get("reason", "")]), flush=True)
"""


def test_processes_that_make_an_index_anew_never_damage_each_others(
    base: Path, write: Write, run: Run
) -> None:
    for number in range(40):
        settle(write(f"docs/{number}.md", f"word {number}", f"n: {number}"))
    # None of them finds an index when it begins.
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", _SEARCHES, str(base), str(own)],
            stdout=subprocess.PIPE,
            text=True,
        )
        for own in (0, 1)
    ]
    lines: list[str] = []
    for process in processes:
        told, _ = process.communicate(timeout=60)
        assert process.returncode == 0
        lines += told.splitlines()

    answers = [json.loads(line) for line in lines]
    assert [count for count, _ in answers] == [40] * (2 * _ROUNDS)
    reasons = {reason for _, reason in answers}
    assert reasons <= {"", "there was no index yet", "a rebuild was asked for"}
    assert run("artifact_search", query="word").dto["data"]["cache_state"]["state"] == "fresh"
