from __future__ import annotations

import fcntl
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from hindnote.core.disposable import drop_damaged


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
    def refuse(path: Path, missing_ok: bool = False) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    opened = file.lstat()
    with monkeypatch.context() as patched:
        patched.setattr(Path, "unlink", refuse)
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
