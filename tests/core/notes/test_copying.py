"""Notes copied from a folder into a database and back."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from postgres import Cluster

pytest.importorskip("psycopg", reason="needs psycopg (hindnote[postgres])")

from hindnote.core.notes import read_counts
from hindnote.core.notes.copying import Copied, copy
from hindnote.core.places.database_home import DatabaseHome

Home = Path | DatabaseHome


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A home with notes of every kind, with odd bytes and old times."""
    chance = random.Random(1)
    home = tmp_path / "notes"
    names = [
        "human/a.md", "human/deep/er/b.md", "project/shop-0123abcd/é.md", "agents/me/x.md",
        "agents/you/x.md", "models/m/x.md", "pi/session/s1/plan.md", "pi/session/%41bc/plan.md",
        "pi/session/abc/plan.md", "claude/session/0a-b/x/y.md",
    ]  # fmt: skip
    bodies = [
        b"", b"\xff\xfe not text", b"---\r\ntags: [a]\r\n---\r\nbody\r\n", b"---\nopen: 1\nbody",
        b"x" * 900_000, b"\xef\xbb\xbfbom\n", b"a\0b",
    ]  # fmt: skip
    for number, name in enumerate([*names, *(f"human/many/{n}.md" for n in range(80))]):
        file = home / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(
            bodies[number] if number < len(bodies) else chance.randbytes(50).hex().encode()
        )
        os.utime(file, ns=(10**18 + number,) * 2)
    read_counts.put(home, ("human", "a.md"), 41, 1_700_000_000_000)
    read_counts.count(home, ("human", "a.md"), {})
    return home


def state(home: Path) -> dict[str, tuple[bytes, int]]:
    """Return the bytes and the time of each note."""
    return {
        str(file.relative_to(home)): (file.read_bytes(), file.stat().st_mtime_ns)
        for file in home.rglob("*.md")
    }


def outcomes(source: Home, target: Home) -> Counter[str]:
    return Counter(note.outcome for note in copy(source, target))


@pytest.fixture
def ada(team: Cluster) -> DatabaseHome:
    return DatabaseHome(team.url("team", "ada"))


def test_notes_come_back_from_a_database_with_their_bytes_times_and_counts(
    folder: Path, ada: DatabaseHome, tmp_path: Path
) -> None:
    back = tmp_path / "back"

    assert outcomes(folder, ada) == {"copied": 90}
    assert outcomes(ada, back) == {"copied": 90}

    # A notebook's folder has another name where letter case alone told two apart.
    wanted, found = state(folder), state(back)
    assert found.keys() ^ wanted.keys() <= {
        f"pi/session/{name}/plan.md" for name in ("%41bc", "Abc", "abc", "%61%62%63")
    }
    assert sorted(found.values()) == sorted(wanted.values())
    counts = read_counts.counts(folder)
    assert counts["human/a.md"][0] == 42
    assert read_counts.counts(back) == counts
    assert outcomes(folder, ada) == {"same": 90}
    assert outcomes(ada, back) == {"same": 90}


def test_notes_are_copied_between_two_folders(folder: Path, tmp_path: Path) -> None:
    assert outcomes(folder, tmp_path / "other") == {"copied": 90}
    assert sorted(state(tmp_path / "other").values()) == sorted(state(folder).values())


COPY = "from hindnote.core.cli import main; main()"


@pytest.mark.parametrize("back", [False, True], ids=["into a database", "into a folder"])
def test_a_copy_that_was_killed_goes_on(
    folder: Path, team: Cluster, ada: DatabaseHome, tmp_path: Path, back: bool
) -> None:
    target = tmp_path / "back"
    if back:
        assert outcomes(folder, ada) == {"copied": 90}
    ends = [ada.url, str(target)] if back else [str(folder), ada.url]

    def kept() -> int:
        count = "SELECT count(*) FROM hindnote.notes WHERE data IS NOT NULL"
        return len(list(target.rglob("*.md"))) if back else int(str(team.sql(count, "team")[0][0]))

    process = subprocess.Popen([sys.executable, "-c", COPY, "home", "copy", *ends])
    while kept() < 10 and process.poll() is None:
        pass
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert kept() >= 10

    told = subprocess.run(
        [sys.executable, "-c", COPY, "home", "copy", *ends],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert kept() == 90
    assert "0 differ; 0 cannot be copied" in told.stdout
    assert set(outcomes(ada, target)) <= {"same", "copied"}
    assert sorted(state(target).values()) == sorted(state(folder).values())


def test_what_differs_or_is_no_note_is_told_and_left_alone(
    folder: Path, ada: DatabaseHome, tmp_path: Path
) -> None:
    assert outcomes(folder, ada) == {"copied": 90}
    (folder / "human/a.md").write_bytes(b"mine")
    (folder / "human/image.png").write_bytes(b"x")
    (folder / "human/link.md").symlink_to(tmp_path / "outside.md")
    (folder / "human/A.md").write_bytes(b"upper")
    (folder / "lost.md").write_bytes(b"x")

    told = {note.note: note for note in copy(folder, ada) if note.outcome != "same"}

    assert told.pop("human/a.md") == Copied("human/a.md", "differs")
    assert {name: note.outcome for name, note in told.items()} == dict.fromkeys(
        ["human/image.png", "human/link.md", "human/A.md", "lost.md"], "left"
    )
    assert "differs by letter case" in told["human/A.md"].reason
    back = tmp_path / "back"
    assert outcomes(ada, back) == {"copied": 90}
    assert (back / "human/a.md").read_bytes() == b""


def test_a_person_copies_their_own_notes_and_the_team_s(
    folder: Path, team: Cluster, ada: DatabaseHome, tmp_path: Path
) -> None:
    assert outcomes(folder, ada) == {"copied": 90}

    assert outcomes(DatabaseHome(team.url("team", "ben")), tmp_path / "ben") == {"copied": 1}
    assert list(state(tmp_path / "ben")) == ["project/shop-0123abcd/é.md"]


def test_a_role_that_may_only_read_copies_nothing_into_a_database(
    folder: Path, team: Cluster
) -> None:
    from hindnote.core.errors import Refused

    with pytest.raises(Refused) as refused:
        outcomes(folder, DatabaseHome(team.url("team", "guest")))
    assert refused.value.code == "read_only_home"
