from __future__ import annotations

import fcntl
import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from hindnote.core.fs.throwaway_sqlite import connect, drop_damaged, drop_other_kinds


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "some.sqlite3"
    file.write_bytes(b"no database at all" * 100)
    return file


@pytest.fixture
def error(file: Path) -> sqlite3.Error:
    """What a damaged database brings."""
    with closing(sqlite3.connect(file)) as database, pytest.raises(sqlite3.Error) as caught:
        database.execute("SELECT * FROM facts")
    return caught.value


def test_a_damaged_database_goes_with_all_its_files(file: Path, error: sqlite3.Error) -> None:
    for suffix in ("-wal", "-shm", "-journal"):
        file.with_name(file.name + suffix).touch()
    other = file.with_name("other.sqlite3")
    other.touch()

    drop_damaged(file, file.lstat(), error)

    assert list(file.parent.iterdir()) == [other]


@pytest.mark.parametrize(
    "code", [sqlite3.SQLITE_BUSY, sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY, None]
)
def test_a_database_in_trouble_stays(file: Path, code: int | None) -> None:
    trouble = sqlite3.OperationalError("trouble")
    if code is not None:
        trouble.sqlite_errorcode = code

    drop_damaged(file, file.lstat(), trouble)
    drop_damaged(file, file.lstat(), OSError("no such folder"))

    assert file.exists()


def test_one_that_was_made_anew_meanwhile_stays(file: Path, error: sqlite3.Error) -> None:
    opened = file.lstat()
    # It may well get the old one's inode.
    file.unlink()
    file.touch()

    drop_damaged(file, opened, error)
    drop_damaged(file, None, error)

    assert file.exists()


def test_one_that_another_process_is_dropping_is_left_to_it(
    file: Path, error: sqlite3.Error
) -> None:
    held = os.open(file, os.O_RDONLY)
    try:
        fcntl.flock(held, fcntl.LOCK_EX)
        drop_damaged(file, file.lstat(), error)
        assert file.exists()
    finally:
        os.close(held)

    drop_damaged(file, file.lstat(), error)
    assert not file.exists()


def test_one_that_is_gone_or_cannot_be_removed_is_no_error(
    file: Path, error: sqlite3.Error, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: str, **_: object) -> None:
        raise PermissionError(13, "Permission denied", path)

    opened = file.lstat()
    with monkeypatch.context() as patched:
        patched.setattr(os, "unlink", refuse)
        drop_damaged(file, opened, error)
    assert file.exists()

    file.unlink()
    drop_damaged(file, opened, error)


def test_a_link_is_not_followed(file: Path, error: sqlite3.Error) -> None:
    link = file.with_name("link.sqlite3")
    link.symlink_to(file)

    drop_damaged(link, link.lstat(), error)

    assert link.is_symlink()
    assert file.exists()


def test_nothing_is_made_opened_or_removed_through_a_folder_that_is_a_link(
    tmp_path: Path, file: Path, error: sqlite3.Error
) -> None:
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    file.rename(theirs / file.name)
    (theirs / f"{file.name}-wal").symlink_to("nothing")
    folder = tmp_path / "ours"
    folder.symlink_to(theirs)
    before = sorted(theirs.iterdir())

    for name in (file.name, "new.sqlite3"):
        with pytest.raises(OSError):
            connect(folder / name, 0)
        with pytest.raises(OSError):
            drop_other_kinds(folder / name)
    drop_damaged(folder / file.name, (folder / file.name).lstat(), error)

    assert sorted(theirs.iterdir()) == before


def test_no_database_is_made_elsewhere_when_the_folder_becomes_a_link(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    ours.mkdir()
    theirs.mkdir()
    real = sqlite3.connect

    def after_the_exchange(*arguments: Any, **options: Any) -> sqlite3.Connection:
        ours.rename(tmp_path / "aside")
        ours.symlink_to(theirs)
        return real(*arguments, **options)

    monkeypatch.setattr(sqlite3, "connect", after_the_exchange)

    with pytest.raises(sqlite3.Error):
        connect(ours / "some.sqlite3", 0)

    assert list(theirs.iterdir()) == []
