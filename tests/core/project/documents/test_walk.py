"""What folders list is remembered, and never beyond a change of theirs."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hindnote.core.project.documents import walk

Write = Callable[..., Path]
Paths = Callable[..., list[str]]


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a listing be remembered at once."""
    monkeypatch.setattr(walk, "_SETTLED_NS", -(10**18))


@pytest.fixture
def listed(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """Return the folders that were listed, as they are."""
    found = []
    real = os.scandir

    def scandir(handle: int) -> Any:
        told = os.fstat(handle)
        found.append((told.st_dev, told.st_ino))
        return real(handle)

    monkeypatch.setattr(os, "scandir", scandir)
    return found


def turn(folder: Path, change: Callable[[], Any]) -> None:
    """Change a folder once the clock of its file system has moved on, and hide it from mtime."""
    before = folder.stat()
    probe = folder.parent.parent / "probe"
    while True:
        probe.touch()
        if probe.stat().st_ctime_ns > before.st_ctime_ns:
            break
    change()
    os.utime(folder, ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.mark.usefixtures("settled")
def test_a_folder_that_stays_as_it_is_is_listed_once(
    write: Write, paths: Paths, listed: list[tuple[int, int]]
) -> None:
    write("docs/a.md", "word")
    write("docs/sub/b.md", "word")
    paths("word")
    assert len(listed) == 2

    assert sorted(paths("word")) == ["docs/a.md", "docs/sub/b.md"]
    assert len(listed) == 2


@pytest.mark.usefixtures("settled")
def test_an_edit_in_place_is_seen_in_a_folder_that_stays_as_it_is(
    base: Path, write: Write, paths: Paths, listed: list[tuple[int, int]]
) -> None:
    write("docs/a.md", "old")
    paths()

    with (base / "docs" / "a.md").open("r+") as file:
        file.write("new words")

    assert paths("new") == ["docs/a.md"]
    assert len(listed) == 1


@pytest.mark.usefixtures("settled")
@pytest.mark.parametrize(
    ("change", "found"),
    [
        (lambda docs: (docs / "b.md").write_text("word"), ["docs/a.md", "docs/b.md"]),
        (lambda docs: (docs / "a.md").unlink(), []),
        (lambda docs: (docs / "a.md").rename(docs / "c.md"), ["docs/c.md"]),
        (lambda docs: (docs.parent / "sub").rename(docs / "sub"), ["docs/a.md", "docs/sub/s.md"]),
        (lambda docs: (docs / "a.md").replace(docs / "a.txt"), []),
    ],
    ids=["written", "removed", "renamed", "moved in", "no document any more"],
)
def test_what_comes_and_goes_is_seen_though_the_time_of_the_folder_was_set_back(
    base: Path, write: Write, paths: Paths, change: Callable[[Path], Any], found: list[str]
) -> None:
    write("docs/a.md", "word")
    write("sub/s.md", "word")
    assert paths("word") == ["docs/a.md"]
    assert paths("word") == ["docs/a.md"]

    turn(base / "docs", lambda: change(base / "docs"))

    assert sorted(paths("word")) == found


@pytest.mark.usefixtures("settled")
@pytest.mark.parametrize("freshness", ["strict", "memory"])
def test_without_auto_freshness_every_folder_is_listed(
    write: Write, paths: Paths, listed: list[tuple[int, int]], freshness: str
) -> None:
    write("docs/a.md", "word")
    paths("word")

    assert paths("word", freshness=freshness) == ["docs/a.md"]
    assert len(listed) == 2


def test_a_folder_that_changed_just_now_is_listed_again(
    base: Path, write: Write, paths: Paths, listed: list[tuple[int, int]]
) -> None:
    write("docs/a.md", "word")
    # In the near future, since a busy machine may take its time until it lists the folder.
    stamp = time.time_ns() + 10**12
    os.utime(base / "docs", ns=(stamp, stamp))
    paths("word")

    assert paths("word") == ["docs/a.md"]
    assert len(listed) == 2


@pytest.mark.usefixtures("settled")
def test_only_so_many_listings_are_remembered(
    write: Write, paths: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(walk, "_LISTINGS", {})
    monkeypatch.setattr(walk, "_REMEMBERED", 3)
    for number in range(10):
        write(f"docs/{number}/a.md", "word")

    for _ in range(2):
        assert len(paths("word")) == 10
        assert len(walk._LISTINGS) <= 3
