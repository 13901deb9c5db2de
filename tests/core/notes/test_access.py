from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from hindnote.core.notes import access


def counted(agent: Any, address: str) -> int | None:
    known = access.read(agent.home, agent.store.homes.parse(address).segments)
    return None if known is None else known.count


def test_reads_are_counted_beside_the_notes(agent: Any) -> None:
    agent.put("@human/a", "body")
    assert counted(agent, "@human/a") is None

    for _ in range(3):
        agent.read(address="@human/a")
    agent.list()
    agent.search(query="body")

    assert counted(agent, "@human/a") == 3
    known = access.read(agent.home, ("human", "a.md"))
    assert known is not None
    assert known.last > 0
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


@pytest.mark.parametrize("trouble", ["garbage", "folder", "link", "locked", "error"])
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
    elif trouble == "folder":
        file.mkdir()
    elif trouble == "link":
        file.symlink_to(agent.home.parent / "outside")
    elif trouble == "locked":
        monkeypatch.setattr(access, "BUSY_SECONDS", 0.01)
        holder = sqlite3.connect(file)
        holder.execute("BEGIN EXCLUSIVE")
    else:
        monkeypatch.setattr(access, "state_folder", _denied)

    assert agent.read(address="@human/a")["text"] == "body"
    assert access.read(agent.home, ("human", "a.md")) is None
    assert not (agent.home.parent / "outside").exists()
    if holder is not None:
        holder.close()


def _denied(*_: Any) -> Any:
    raise PermissionError(13, "Permission denied")


def test_counting_goes_on_when_the_database_was_taken_away(agent: Any) -> None:
    agent.put("@human/a", "body")
    agent.read(address="@human/a")
    for file in (agent.home / ".hindnote").glob("access.sqlite3*"):
        file.unlink()

    agent.read(address="@human/a")

    assert counted(agent, "@human/a") == 1


def test_reads_from_several_threads_are_all_counted(agent: Any) -> None:
    agent.put("@human/a", "body")

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: agent.read(address="@human/a"), range(40)))

    assert counted(agent, "@human/a") == 40
