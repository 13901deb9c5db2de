"""The look at a notes home: what is wrong is told, and nothing is touched."""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path

import pytest

from hindnote.core.doctor import Finding
from hindnote.core.doctor import notes as doctor_notes
from hindnote.core.doctor.installation import examine
from hindnote.core.doctor.notes import examine_home


def told(home: Path, level: str = "error") -> list[Finding]:
    return [finding for finding in examine_home(home) if finding.level == level]


def about(home: Path, level: str = "error") -> list[str]:
    """Return what the findings of a level are about, relative to the home."""
    return [os.path.relpath(finding.subject, home) for finding in told(home, level)]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    (folder / "human").mkdir(parents=True)
    (folder / "human" / "good.md").write_text("---\norigin: self\n---\nfine\n")
    return folder


def test_a_home_that_does_not_exist_yet_is_fine_and_stays_absent(tmp_path: Path) -> None:
    absent = tmp_path / "notes"

    assert [finding.level for finding in examine_home(absent)] == ["ok"]
    assert not absent.exists()


def test_a_home_that_cannot_be_made_is_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor_notes, "can_write", lambda folder: False)

    [finding] = examine_home(tmp_path / "a" / "notes")

    assert finding.level == "error"
    assert str(tmp_path) in finding.message


def test_a_sound_home_has_nothing_to_tell(home: Path) -> None:
    findings = list(examine_home(home))

    assert [finding.level for finding in findings] == ["ok"]
    assert "1 note" in findings[0].message


def test_a_home_that_is_a_file_is_wrong(tmp_path: Path) -> None:
    file = tmp_path / "notes"
    file.write_text("")

    assert len(told(file)) == 1


def test_a_home_behind_a_link_is_fine(home: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(home)

    assert told(link) == []


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("latin.md", b"caf\xe9"),
        ("broken.md", b"---\ntitle: a: b\n---\nx"),
        ("twice.md", b"---\na: 1\na: 2\n---\nx"),
        ("date.md", b"---\nd: [\n---\nx"),
    ],
)
def test_a_note_that_cannot_be_read_whole_is_told(home: Path, name: str, content: bytes) -> None:
    (home / "human" / name).write_bytes(content)

    assert about(home) == [f"human/{name}"]


def test_a_note_that_is_too_large_is_told_without_being_read(home: Path) -> None:
    with (home / "human" / "huge.md").open("wb") as file:
        file.truncate(17 * 1024 * 1024)

    assert about(home) == ["human/huge.md"]


def test_a_pipe_in_a_file_s_place_is_told_and_not_waited_for(home: Path) -> None:
    locks = home / ".hindnote/locks"
    locks.mkdir(parents=True)
    os.mkfifo(home / "human/pipe.md")
    os.mkfifo(locks / "07.lock")

    assert about(home) == ["human/pipe.md", ".hindnote/locks/07.lock"]


def test_links_are_told_when_they_lead_out_or_nowhere(home: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("secret")
    (home / "human" / "out.md").symlink_to(tmp_path / "secret.md")
    (home / "human" / "folder").symlink_to(tmp_path)
    (home / "human" / "within.md").symlink_to("good.md")
    (home / "human" / "nowhere.md").symlink_to("absent.md")
    (home / "human" / "loop.md").symlink_to("loop.md")

    assert about(home) == ["human/folder", "human/out.md"]
    assert about(home, "warning") == ["human/loop.md", "human/nowhere.md"]


@pytest.mark.parametrize(("one", "other"), [("Plan.md", "plan.md"), ("é.md", "e\u0301.md")])
def test_names_that_collide_on_other_systems_are_told(home: Path, one: str, other: str) -> None:
    (home / "human" / one).write_text("x")
    (home / "human" / other).write_text("x")

    assert about(home) == ["human"]
    assert one in told(home)[0].message


def test_a_name_without_an_address_is_worth_knowing(home: Path) -> None:
    (home / "human" / "a:b.md").write_text("x")
    (home / "human" / b"\xff.md".decode(errors="surrogateescape")).write_text("x")

    assert about(home, "warning") == ["human/a:b.md"]


def test_a_folder_that_cannot_be_listed_is_told_and_the_rest_is_looked_at(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "project").mkdir()
    (home / "project" / "latin.md").write_bytes(b"\xe9")
    scandir = os.scandir

    def denied(path: str) -> object:
        if str(path).endswith("human"):
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(doctor_notes.os, "scandir", denied)

    assert sorted(about(home)) == ["human", "project/latin.md"]


def test_what_a_killed_writer_left_is_told_once_it_is_old(home: Path) -> None:
    fresh = home / "human" / ".0123456789abcdef.hindnote-tmp"
    old = home / "human" / ".fedcba9876543210.hindnote-tmp"
    for path in (fresh, old):
        path.write_text("half")
    past = time.time() - 3_600
    os.utime(old, (past, past))

    assert about(home, "warning") == [f"human/{old.name}"]


def test_a_held_lock_is_told_and_a_free_one_is_not(home: Path) -> None:
    locks = home / ".hindnote" / "locks"
    locks.mkdir(parents=True)
    (locks / "01.lock").write_text("")
    with (locks / "02.lock").open("wb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)

        assert about(home, "warning") == [".hindnote/locks/02.lock"]
    assert about(home, "warning") == []


def test_a_home_that_cannot_be_written_is_wrong(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor_notes, "can_write", lambda folder: False)

    assert [finding.message for finding in told(home)] == ["cannot be written"]


def test_looking_changes_nothing(home: Path) -> None:
    (home / "human" / "broken.md").write_text("---\na: [\n---\n")
    before = {path: path.stat() for path in home.rglob("*")}

    list(examine(home))

    after = {path: path.stat() for path in home.rglob("*")}
    assert {path: (status.st_mtime_ns, status.st_size) for path, status in before.items()} == {
        path: (status.st_mtime_ns, status.st_size) for path, status in after.items()
    }
