from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from hindnote.core.notes import note, read_counts


def counted(agent: Any, address: str) -> int | None:
    found = agent.count(address)
    return None if found is None else found[0]


def test_reads_are_counted_beside_the_notes(agent: Any) -> None:
    agent.put("@human/a", "body")
    assert counted(agent, "@human/a") is None

    for _ in range(3):
        agent.read(address="@human/a")
    agent.list()
    agent.search(query="body")

    found = agent.count("@human/a")
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


@pytest.fixture
def file(agent: Any) -> Path:
    return Path(agent.home / ".hindnote/reads.jsonl")


def full(file: Path) -> None:
    (file / "theirs").mkdir(parents=True)


TROUBLES: dict[str, Callable[[Path], object]] = {
    "garbage": lambda file: file.write_bytes(b"\xff\0no counts\n" * 100),
    "a full folder": full,
    "a sparse file of a gigabyte": lambda file: file.touch() or os.truncate(file, 2**30),
}


@pytest.mark.folder_home
@pytest.mark.parametrize("trouble", TROUBLES)
def test_trouble_with_counts_never_fails_a_read(agent: Any, file: Path, trouble: str) -> None:
    agent.put("@human/a", "body")
    file.parent.mkdir()
    TROUBLES[trouble](file)

    for _ in range(2):
        assert agent.read(address="@human/a")["text"] == "body"


@pytest.mark.folder_home
def test_a_home_that_cannot_be_written_is_read(agent: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    agent.put("@human/a", "body")

    def denied(*_: Any, **__: Any) -> Any:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "mkdir", denied)

    assert agent.read(address="@human/a")["text"] == "body"
    assert counted(agent, "@human/a") is None


@pytest.mark.folder_home
def test_a_count_waits_for_another_process_no_longer_than_a_moment(
    agent: Any, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent.put("@human/a", "body")
    agent.read(address="@human/a")
    monkeypatch.setattr(read_counts, "WAIT_SECONDS", 0.01)

    with file.open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert agent.read(address="@human/a")["text"] == "body"

    assert counted(agent, "@human/a") == 1


OTHER_KINDS: dict[str, Callable[[Path, Path], object]] = {
    "folder": lambda place, _: place.mkdir(),
    "pipe": lambda place, _: os.mkfifo(place),
    "pipe that only reads": lambda place, _: os.mkfifo(place, 0o444),
    "link": lambda place, outside: place.symlink_to(outside),
    "link to a folder": lambda place, outside: place.symlink_to(outside.parent),
    "circle": lambda place, _: place.symlink_to(place),
    "second name of a file": lambda place, outside: place.hardlink_to(outside),
}


@pytest.mark.folder_home
@pytest.mark.parametrize("kind", OTHER_KINDS)
def test_what_is_no_file_of_ours_gives_way_to_counting(
    agent: Any, file: Path, tmp_path: Path, kind: str
) -> None:
    agent.put("@human/a", "body")
    outside = tmp_path / "outside"
    outside.write_text("theirs")
    file.parent.mkdir()
    OTHER_KINDS[kind](file, outside)

    assert agent.read(address="@human/a")["text"] == "body"

    assert counted(agent, "@human/a") == 1
    assert outside.read_text() == "theirs"


@pytest.mark.folder_home
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_file_of_another_user_stays_as_it_is(agent: Any, file: Path) -> None:
    agent.put("@human/a", "body")
    agent.read(address="@human/a")
    before = file.read_bytes()
    os.chown(file, 1234, 1234)

    assert agent.read(address="@human/a")["text"] == "body"

    assert file.read_bytes() == before


@pytest.mark.folder_home
def test_a_read_makes_nothing_where_a_linked_folder_leads(agent: Any, tmp_path: Path) -> None:
    agent.put("@human/a", "body")
    (tmp_path / "outside").mkdir()
    (agent.home / ".hindnote").symlink_to(tmp_path / "outside")

    assert agent.read(address="@human/a")["text"] == "body"

    assert list((tmp_path / "outside").iterdir()) == []


@pytest.mark.folder_home
def test_a_line_that_was_cut_short_spoils_no_other(agent: Any, file: Path) -> None:
    agent.put("@human/a", "body")
    agent.read(address="@human/a")
    agent.read(address="@human/a")
    file.write_bytes(file.read_bytes()[:-5])

    agent.read(address="@human/a")

    assert counted(agent, "@human/a") == 2


@pytest.mark.folder_home
@pytest.mark.parametrize(
    "line",
    ['["count","human/a.md",-1,5]', '["count","human/a.md",9007199254740992,5]', "[]", "null",
     '["count","human/a.md",1.5,5]', '["other","human/a.md"]', "[" * 100_000],
)  # fmt: skip
def test_a_line_that_nobody_wrote_counts_for_nothing(agent: Any, file: Path, line: str) -> None:
    agent.put("@human/a", "body")
    agent.read(address="@human/a")
    with file.open("a") as lines:
        lines.write(f"\n{line}")

    agent.read(address="@human/a")

    assert counted(agent, "@human/a") == 2


@pytest.mark.folder_home
def test_counting_goes_on_when_the_file_was_taken_away(agent: Any, file: Path) -> None:
    agent.put("@human/a", "body")
    agent.read(address="@human/a")
    file.unlink()

    agent.read(address="@human/a")

    assert counted(agent, "@human/a") == 1


@pytest.mark.folder_home
def test_the_file_stays_small_and_says_the_same_when_it_is_written_afresh(
    agent: Any, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(read_counts, "REWRITE_BYTES", 1_000)
    agent.put("@human/a", "---\naccessCount: 7\n---\nbody")
    agent.put("@human/b", "body")

    for _ in range(60):
        agent.read(address="@human/a")
    agent.read(address="@human/b")
    agent.update(address="@human/b", rename_to="@human/c")

    assert counted(agent, "@human/a") == 67
    assert counted(agent, "@human/c") == 1
    assert file.stat().st_size < 1_500
    assert sorted(path.name for path in file.parent.iterdir()) == [
        ".gitignore", "locks", "reads.jsonl"
    ]  # fmt: skip


# -- several at once ---------------------------------------------------------------

COUNTS = """
import sys
from pathlib import Path
from hindnote.core.notes import read_counts
read_counts.REWRITE_BYTES = 2_000
read_counts.WAIT_SECONDS = 60.0
sys.stdin.readline()
for _ in range(200):
    read_counts.count(Path(sys.argv[1]), ("human", "a.md"), {})
"""


@pytest.mark.folder_home
def test_processes_lose_no_count_while_the_file_is_made_and_written_afresh(agent: Any) -> None:
    agent.put("@human/a", "body")
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
    assert counted(agent, "@human/a") == 800


def test_reads_from_several_threads_are_all_counted(agent: Any) -> None:
    agent.put("@human/a", "body")

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: agent.read(address="@human/a"), range(40)))

    assert counted(agent, "@human/a") == 40


def test_the_keys_of_an_earlier_tools_counts_are_not_owned() -> None:
    assert note.COUNTS.isdisjoint(note.OWNED)
