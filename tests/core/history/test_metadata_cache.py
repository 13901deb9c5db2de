from __future__ import annotations

import errno
import os
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from hindnote.core.history.metadata_cache import FileFacts

ONE = ("/a/ü.jsonl", (10, 1_796_032_678_333_000_001, 2**62), '{"id":"x"}')


def cache_file(folder: Path) -> Path:
    (file,) = folder.glob("*.sqlite3")
    return file


def test_what_was_stored_is_loaded_by_another_process(tmp_path: Path) -> None:
    FileFacts("pi-1", tmp_path).store([ONE])
    FileFacts("pi-1", tmp_path).store([("/b", (1, 2, 3), "")])

    assert FileFacts("pi-1", tmp_path).load() == {ONE[0]: ONE[1:], "/b": ((1, 2, 3), "")}
    assert FileFacts("pi-2", tmp_path).load() == {}


def test_the_cache_which_holds_first_prompts_is_for_its_owner_alone(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    FileFacts("pi-1", folder).store([ONE])

    assert folder.stat().st_mode & 0o777 == 0o700
    assert cache_file(folder).stat().st_mode & 0o777 == 0o600


def test_newer_facts_replace_older_ones(tmp_path: Path) -> None:
    facts = FileFacts("pi-1", tmp_path)
    facts.store([ONE])
    facts.store([(ONE[0], (11, 1, 1), "new")])

    assert facts.load() == {ONE[0]: ((11, 1, 1), "new")}


def test_nothing_is_remembered_yet(tmp_path: Path) -> None:
    assert FileFacts("pi-1", tmp_path / "none").load() == {}


@pytest.mark.parametrize("damage", [b"not a database at all" * 100, b"SQLite format 3\x00" * 40])
def test_a_damaged_cache_is_thrown_away_and_rebuilt(tmp_path: Path, damage: bytes) -> None:
    facts = FileFacts("pi-1", tmp_path)
    facts.store([ONE])
    cache_file(tmp_path).write_bytes(damage)

    assert facts.load() == {}
    facts.store([ONE])
    assert facts.load() == {ONE[0]: ONE[1:]}


@pytest.mark.parametrize(
    ("good", "bad"), [(b"CREATE TABLE", b"CREATE\xffTABLE"), (b"told you", b"told \xffou")]
)
def test_a_cache_with_damaged_texts_is_thrown_away_and_rebuilt(
    tmp_path: Path, good: bytes, bad: bytes
) -> None:
    facts = FileFacts("pi-1", tmp_path)
    facts.store([("another", ONE[1], "told you")])
    file = cache_file(tmp_path)
    assert good in file.read_bytes()
    file.write_bytes(file.read_bytes().replace(good, bad))

    assert facts.load() == {}
    facts.store([ONE])
    assert facts.load() == {ONE[0]: ONE[1:]}


def test_a_cache_that_cannot_be_written_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    FileFacts("pi-1", tmp_path / "file/below").store([ONE])

    def refuse(*_: object, **__: object) -> None:
        raise sqlite3.OperationalError("database is locked")

    facts = FileFacts("pi-1", tmp_path)
    facts.store([ONE])
    monkeypatch.setattr(sqlite3, "connect", refuse)
    facts.store([ONE])
    assert facts.load() == {}
    assert cache_file(tmp_path).exists()


def test_what_cannot_be_kept_is_left_out_and_the_rest_remembered(tmp_path: Path) -> None:
    facts = FileFacts("pi-1", tmp_path)

    facts.store([(os.fsdecode(b"/\xff"), (1, 2, 3), "x"), ("/a", (1, 2, 2**63), "x"), ONE])

    assert facts.load() == {ONE[0]: ONE[1:]}


@pytest.mark.parametrize(
    "change",
    [
        'told = \'{"id":"y"}\'',
        "told = x'ff'",
        "told = 5",
        "told = NULL",
        "path = '/other'",
        "path = x'ff'",
        "inode = inode + 1",
        "kind = 'pi-1'",
        "seal = NULL",
    ],
)
def test_a_row_that_is_not_as_it_was_written_is_as_good_as_none(
    tmp_path: Path, change: str
) -> None:
    kind = "pi-2" if "kind" in change else "pi-1"
    FileFacts(kind, tmp_path).store([ONE])
    FileFacts("pi-1", tmp_path).store([("/b", (1, 2, 3), "")])
    with closing(sqlite3.connect(cache_file(tmp_path))) as database, database:
        assert database.execute(f"UPDATE facts SET {change} WHERE path <> '/b'").rowcount == 1

    facts = FileFacts("pi-1", tmp_path)
    assert facts.load() == {"/b": ((1, 2, 3), "")}
    facts.store([ONE])
    assert facts.load()[ONE[0]] == ONE[1:]


@pytest.mark.parametrize("days", [-91, 91])
def test_what_a_clock_elsewhere_stored_is_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, days: int
) -> None:
    now = time.time()
    facts = FileFacts("pi-1", tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(time, "time", lambda: now + days * 86_400)
        facts.store([ONE])

    facts.store([("/b", (1, 2, 3), "")])

    assert set(facts.load()) == {"/b"}


def test_what_is_no_file_in_its_place_is_taken_away_and_a_links_target_stays(
    tmp_path: Path,
) -> None:
    facts = FileFacts("pi-1", tmp_path / "cache")
    facts.store([ONE])
    file = cache_file(tmp_path / "cache")
    outside = tmp_path / "outside"
    file.rename(outside)
    before = outside.read_bytes()

    file.symlink_to(outside)
    facts.store([("/b", (1, 2, 3), "")])

    assert facts.load() == {"/b": ((1, 2, 3), "")}
    assert outside.read_bytes() == before


def test_many_writers_at_once_lose_at_most_what_they_could_not_wait_for(tmp_path: Path) -> None:
    def write(number: int) -> None:
        FileFacts("pi-1", tmp_path).store([(f"/{number}", (number, 0, 0), "x")])

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(40)))

    assert set(FileFacts("pi-1", tmp_path).load()) <= {f"/{number}" for number in range(40)}
    write(99)
    assert "/99" in FileFacts("pi-1", tmp_path).load()


def test_a_database_of_another_kind_is_thrown_away_and_rebuilt(tmp_path: Path) -> None:
    facts = FileFacts("pi-1", tmp_path)
    facts.store([ONE])
    file = cache_file(tmp_path)
    file.unlink()
    with closing(sqlite3.connect(file)) as database, database:
        database.execute("CREATE TABLE facts (path TEXT)")

    assert facts.load() == {}
    facts.store([ONE])
    assert facts.load() == {ONE[0]: ONE[1:]}


@pytest.mark.parametrize("error", [errno.EACCES, errno.ENOSPC, errno.EROFS])
def test_a_folder_that_cannot_be_made_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: int
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(error, os.strerror(error))

    monkeypatch.setattr(Path, "mkdir", refuse)

    FileFacts("pi-1", tmp_path / "cache").store([ONE])
    assert FileFacts("pi-1", tmp_path / "cache").load() == {}
