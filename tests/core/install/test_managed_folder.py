from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from hindnote.core.install import managed_folder
from hindnote.core.install.managed_folder import FILE_LIMIT, MANIFEST, MANIFEST_LIMIT, NotOurs

FILES = {"a.txt": b"one", "deep/b.txt": b"two"}

Place = partial(managed_folder.ManagedFolder, names=re.compile(r"(?:deep/)?[a-z]\.txt"))


def tree(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name != MANIFEST
    }


def put(folder: Path, files: dict[str, bytes]) -> list[str]:
    return list(Place(folder).put(files))


def test_put_writes_the_files_and_names_each(tmp_path: Path) -> None:
    folder = tmp_path / "place"

    lines = put(folder, FILES)

    assert tree(folder) == FILES
    assert lines == [
        f"made {folder}",
        f"wrote {folder / MANIFEST}",
        f"made {folder / 'deep'}",
        f"wrote {folder / 'a.txt'}",
        f"wrote {folder / 'deep/b.txt'}",
    ]


def test_put_twice_touches_nothing(tmp_path: Path) -> None:
    put(tmp_path / "place", FILES)

    assert put(tmp_path / "place", FILES) == []


def test_put_replaces_what_changed_and_removes_what_is_no_longer_shipped(tmp_path: Path) -> None:
    folder = tmp_path / "place"
    put(folder, FILES)

    put(folder, {"a.txt": b"new", "c.txt": b"three"})

    assert tree(folder) == {"a.txt": b"new", "c.txt": b"three"}
    assert not (folder / "deep").exists()
    assert Place(folder).changed() == []
    assert put(folder, {"a.txt": b"new", "c.txt": b"three"}) == []


def test_put_mends_a_missing_file(tmp_path: Path) -> None:
    folder = tmp_path / "place"
    put(folder, FILES)
    (folder / "a.txt").unlink()

    assert Place(folder).changed() == [folder / "a.txt"]
    assert put(folder, FILES) == [f"wrote {folder / 'a.txt'}"]


@pytest.mark.parametrize("broken_after", range(4))
def test_an_interrupted_put_is_finished_by_the_next(tmp_path: Path, broken_after: int) -> None:
    folder = tmp_path / "place"
    put(folder, FILES)
    new = {"a.txt": b"new", "c.txt": b"three"}

    steps = Place(folder).put(new)
    for _ in range(broken_after):
        next(steps)
    steps.close()
    put(folder, new)

    assert tree(folder) == new


@pytest.mark.parametrize("broken_after", range(1, 7))
def test_an_interrupted_put_in_an_empty_place_is_finished_by_the_next(
    tmp_path: Path, broken_after: int
) -> None:
    folder = tmp_path / "around" / "place"

    steps = Place(folder).put(FILES)
    for _ in range(broken_after):
        next(steps)
    steps.close()
    put(folder, FILES)

    assert tree(folder) == FILES


@pytest.mark.parametrize("broken_after", range(2, 6))
def test_an_interrupted_first_put_can_be_taken_away(tmp_path: Path, broken_after: int) -> None:
    folder = tmp_path / "place"
    steps = Place(folder).put(FILES)
    for _ in range(broken_after):
        next(steps)
    steps.close()

    list(Place(folder).take_away())

    assert not folder.exists()


class Killed(BaseException):
    """Stands for what ends a process in the middle of things."""


def kill_at_replacement(number: int, patched: pytest.MonkeyPatch) -> None:
    """Let the process end when a file is written and does not have its name yet."""
    steps = iter(range(number + 1))
    real = os.replace

    def replace(*names: str, **folders: int) -> None:
        if next(steps) < number:
            return real(*names, **folders)
        # One that was killed cleans nothing up.
        patched.setattr(os, "unlink", lambda *_, **__: None)
        raise Killed

    patched.setattr(os, "replace", replace)


@pytest.mark.parametrize("number", range(3))
@pytest.mark.parametrize("before", [{}, FILES])
def test_what_was_being_written_is_in_nobodys_way_and_goes_in_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: dict[str, bytes], number: int
) -> None:
    folder = tmp_path / "place"
    folder.mkdir()
    new = {"a.txt": b"new", "deep/b.txt": b"newer"}
    if before:
        put(folder, before)
    with monkeypatch.context() as patched:
        kill_at_replacement(number, patched)
        with pytest.raises(Killed):
            put(folder, new)
    assert list(folder.rglob(".hindnote-*"))

    put(folder, new)
    assert new.items() <= tree(folder).items()

    list(Place(folder).take_away())
    assert list(tmp_path.rglob("*")) == [folder]


def test_what_ended_before_its_manifest_was_written_is_taken_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "place"
    with monkeypatch.context() as patched:
        kill_at_replacement(0, patched)
        with pytest.raises(Killed):
            put(folder, FILES)
    [unfinished] = folder.iterdir()

    lines = list(Place(folder).take_away())

    assert lines == [f"removed {unfinished}", f"removed {folder}"]
    assert list(tmp_path.iterdir()) == []


def test_an_empty_folder_in_its_place_is_not_taken_away(tmp_path: Path) -> None:
    (tmp_path / "place").mkdir()

    assert list(Place(tmp_path / "place").take_away()) == []
    assert (tmp_path / "place").is_dir()


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_what_was_being_written_goes_with_the_attempt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    folder = tmp_path / "place"

    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(type(error)):
        put(folder, FILES)

    assert list(folder.iterdir()) == []


def test_put_refuses_a_folder_of_somebody_else(tmp_path: Path) -> None:
    (tmp_path / "place").mkdir()
    (tmp_path / "place/theirs").touch()

    assert Place(tmp_path / "place").is_taken()
    with pytest.raises(NotOurs, match="not written by hindnote"):
        put(tmp_path / "place", FILES)


def test_put_refuses_a_file_where_the_folder_would_be(tmp_path: Path) -> None:
    (tmp_path / "place").touch()

    assert Place(tmp_path / "place").is_taken()
    with pytest.raises(NotOurs, match="not written by hindnote"):
        put(tmp_path / "place", FILES)


def test_an_empty_folder_is_taken_for_ours_and_left_there(tmp_path: Path) -> None:
    (tmp_path / "place").mkdir()

    assert not Place(tmp_path / "place").is_taken()
    put(tmp_path / "place", FILES)
    lines = list(Place(tmp_path / "place").take_away())

    assert list(tmp_path.rglob("*")) == [tmp_path / "place"]
    assert all(line.startswith("removed ") for line in lines)


@pytest.mark.parametrize("target", ["real", "missing"])
def test_put_refuses_a_link(tmp_path: Path, target: str) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "place").symlink_to(tmp_path / target)

    assert Place(tmp_path / "place").is_taken()
    with pytest.raises(NotOurs, match="is a link"):
        put(tmp_path / "place", FILES)


def test_an_installation_whose_folder_became_a_link_is_left_alone(tmp_path: Path) -> None:
    put(tmp_path / "place", FILES)
    (tmp_path / "place").rename(tmp_path / "moved")
    (tmp_path / "place").symlink_to(tmp_path / "moved")

    with pytest.raises(NotOurs, match="is a link"):
        put(tmp_path / "place", {"a.txt": b"new"})
    with pytest.raises(NotOurs, match="is a link"):
        list(Place(tmp_path / "place").take_away())

    assert (tmp_path / "place").is_symlink()
    assert tree(tmp_path / "moved") == FILES


def test_facts_stand_in_the_manifest_and_are_kept_current(tmp_path: Path) -> None:
    folder = tmp_path / "place"
    list(Place(folder).put(FILES, {"python": "old"}))

    assert list(Place(folder).put(FILES, {"python": "new"})) == [f"wrote {folder / MANIFEST}"]

    record = Place(folder).written()
    assert record is not None
    assert record.facts == {"python": "new"}


def test_put_refuses_a_folder_in_the_place_of_a_file(tmp_path: Path) -> None:
    folder = tmp_path / "place"
    put(folder, FILES)
    (folder / "c.txt").mkdir()

    with pytest.raises(NotOurs, match=r"c\.txt is not as hindnote wrote it"):
        put(folder, {**FILES, "c.txt": b"three"})


def test_put_refuses_a_file_that_was_changed_and_writes_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "place"
    put(folder, FILES)
    (folder / "a.txt").write_bytes(b"mine")

    with pytest.raises(NotOurs, match=r"a\.txt is not as hindnote wrote it"):
        put(folder, {"a.txt": b"new", "deep/b.txt": b"new"})

    assert tree(folder) == {"a.txt": b"mine", "deep/b.txt": b"two"}


@pytest.mark.parametrize("target", ["missing", "deep/missing"])
def test_a_link_that_leads_nowhere_is_somebody_elses(tmp_path: Path, target: str) -> None:
    folder = tmp_path / "place"
    put(folder, FILES)
    (folder / "a.txt").unlink()
    (folder / "a.txt").symlink_to(target)

    with pytest.raises(NotOurs, match=r"a\.txt is not as hindnote wrote it"):
        put(folder, FILES)
    lines = list(Place(folder).take_away())

    assert f"left {folder / 'a.txt'}: it was changed since hindnote wrote it" in lines
    assert (folder / "a.txt").is_symlink()


def test_put_refuses_a_foreign_file_in_the_way(tmp_path: Path) -> None:
    folder = tmp_path / "place"
    put(folder, FILES)
    (folder / "c.txt").write_bytes(b"mine")

    with pytest.raises(NotOurs, match=r"c\.txt"):
        put(folder, {**FILES, "c.txt": b"three"})


@pytest.mark.parametrize("damage", [b"", b"{}", b"[]", b'{"files": 3}', b"\xff"])
def test_a_damaged_manifest_is_said_and_nothing_is_touched(tmp_path: Path, damage: bytes) -> None:
    folder = tmp_path / "place"
    put(folder, FILES)
    (folder / MANIFEST).write_bytes(damage)

    with pytest.raises(NotOurs, match="damaged"):
        put(folder, FILES)
    with pytest.raises(NotOurs, match="damaged"):
        list(Place(folder).take_away())

    assert tree(folder) == FILES


def test_take_away_leaves_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "place"
    put(folder, FILES)

    lines = list(Place(folder).take_away())

    assert list(tmp_path.iterdir()) == []
    names = ("a.txt", "deep/b.txt", "deep", MANIFEST, "")
    assert lines == [f"removed {folder / name}" for name in names]
    assert list(Place(folder).take_away()) == []


@pytest.mark.parametrize("name", ["unlink", "rmdir"])
def test_what_another_process_takes_away_at_that_moment_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    folder = tmp_path / "place"
    put(folder, FILES)
    real = getattr(os, name)

    def late(path: str, **folder: int) -> None:
        real(path, **folder)
        real(path, **folder)

    monkeypatch.setattr(os, name, late)
    list(Place(folder).take_away())

    assert list(tmp_path.iterdir()) == []


def test_take_away_leaves_what_it_did_not_write_and_says_so(tmp_path: Path) -> None:
    folder = tmp_path / "place"
    put(folder, FILES)
    (folder / "a.txt").write_bytes(b"mine")
    (folder / "extra").write_bytes(b"mine too")

    lines = list(Place(folder).take_away())

    assert tree(folder) == {"a.txt": b"mine", "extra": b"mine too"}
    assert f"left {folder / 'a.txt'}: it was changed since hindnote wrote it" in lines
    assert f"left {folder}: it holds files that hindnote did not write" in lines


def test_a_dry_run_says_the_same_and_does_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "around" / "place"

    would = list(Place(folder, dry_run=True).put(FILES))
    assert list(tmp_path.iterdir()) == []
    done = put(folder, FILES)
    assert [
        line.replace("would make", "made").replace("would write", "wrote") for line in would
    ] == done

    before = sorted(tmp_path.rglob("*"))
    list(Place(folder, dry_run=True).put({"a.txt": b"new", "c.txt": b""}))
    assert tree(folder) == FILES

    would = list(Place(folder, dry_run=True).take_away())
    assert sorted(tmp_path.rglob("*")) == before
    done = list(Place(folder).take_away())
    assert [line.replace("would remove", "removed") for line in would] == done


def test_a_dry_run_tells_of_what_would_be_left(tmp_path: Path) -> None:
    folder = tmp_path / "place"
    put(folder, FILES)
    (folder / "deep/extra").touch()

    would = list(Place(folder, dry_run=True).take_away())

    done = list(Place(folder).take_away())
    assert [line.replace("would remove", "removed") for line in would] == done
    assert done[-1] == f"left {folder}: it holds files that hindnote did not write"
    assert (folder / "deep/extra").exists()


def test_a_failed_write_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "place"
    put(folder, FILES)
    before = sorted(folder.rglob("*"))

    def full(*_: str, **__: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="No space"):
        put(folder, {"a.txt": b"new"})

    assert tree(folder) == FILES
    assert sorted(folder.rglob("*")) == before


def test_taking_away_removes_the_folders_that_were_made_for_it(tmp_path: Path) -> None:
    place = Place(tmp_path / "config" / "skills" / "ours")
    (tmp_path / "config").mkdir()
    list(place.put({"a.txt": b"1"}))
    list(place.put({"a.txt": b"2"}))

    list(place.take_away())

    assert list(tmp_path.rglob("*")) == [tmp_path / "config"]


def test_a_folder_that_somebody_uses_meanwhile_stays(tmp_path: Path) -> None:
    place = Place(tmp_path / "skills" / "ours")
    list(place.put({"a.txt": b"1"}))
    (tmp_path / "skills" / "theirs").mkdir()

    list(place.take_away())

    assert [path.name for path in (tmp_path / "skills").iterdir()] == ["theirs"]


# -- a manifest that somebody else wrote ---------------------------------------


def forge(folder: Path, **claims: Any) -> None:
    """Write a manifest that claims what it likes."""
    folder.mkdir(parents=True, exist_ok=True)
    told = {"files": {}, "made": [], "python": "python", "version": "1", **claims}
    (folder / MANIFEST).write_text(json.dumps(told))


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def whole(folder: Path) -> dict[str, bytes | None]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }


@pytest.mark.parametrize(
    "name",
    [
        "../outside.txt",
        "../../valuable/doc.txt",
        "deep/../../outside.txt",
        "{root}/valuable/doc.txt",
        "./a.txt",
        "deep//b.txt",
        "deep/b.txt/",
        "other.md",
        "",
        ".",
        "..",
        "a.txt\n",
        "a.txt\0",
        "A.txt",
    ],
)
@pytest.mark.parametrize("act", ["put", "take_away", "changed", "is_taken"])
def test_a_manifest_that_names_what_hindnote_never_writes_is_refused_and_named(
    tmp_path: Path, name: str, act: str
) -> None:
    folder = tmp_path / "one" / "place"
    (tmp_path / "valuable").mkdir()
    (tmp_path / "valuable" / "doc.txt").write_bytes(b"mine")
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "outside.txt").write_bytes(b"mine")
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "b.txt").write_bytes(b"mine")
    name = name.format(root=tmp_path)
    forge(folder, files={name: [digest(b"mine")]})
    before = whole(tmp_path)
    place = Place(folder)
    acts: dict[str, Callable[[], object]] = {
        "put": lambda: list(place.put(FILES)),
        "take_away": lambda: list(place.take_away()),
        "changed": place.changed,
        "is_taken": place.is_taken,
    }

    with pytest.raises(NotOurs, match="which hindnote does not write") as refused:
        acts[act]()

    assert ascii(name) in str(refused.value)
    assert "\n" not in str(refused.value)
    assert whole(tmp_path) == before


@pytest.mark.parametrize("made", ["../../..", "deep", "../sibling", "{root}/empty", "", "x"])
def test_a_manifest_that_claims_folders_is_refused(tmp_path: Path, made: str) -> None:
    top = tmp_path / "project"
    folder = top / "host" / "place"
    (tmp_path / "empty").mkdir()
    forge(folder, made=[made.format(root=tmp_path)])
    (top / "sibling").mkdir()
    before = whole(tmp_path)

    with pytest.raises(NotOurs, match="names the folder"):
        list(Place(folder, top=top).take_away())

    assert whole(tmp_path) == before


def test_a_project_s_own_folder_and_those_around_it_are_never_removed(tmp_path: Path) -> None:
    top = tmp_path / "project"
    forge(top / "host" / "place", made=[".", ".."])

    list(Place(top / "host" / "place", top=top).take_away())

    assert list(tmp_path.iterdir()) == [top]
    assert list(top.iterdir()) == []


@pytest.mark.parametrize("linked", ["host", "host/place", "host/place/deep"])
def test_no_link_in_a_project_is_followed(tmp_path: Path, linked: str) -> None:
    put(tmp_path / "own" / "host" / "place", FILES)
    top = tmp_path / "project"
    link = top / linked
    link.parent.mkdir(parents=True)
    if linked.endswith("deep"):
        forge(top / "host/place", files={"deep/b.txt": [digest(b"two")]})
    link.symlink_to(tmp_path / "own" / linked)
    before = whole(tmp_path / "own")
    place = Place(top / "host" / "place", top=top)

    if linked.endswith("deep"):
        lines = list(place.take_away())
        assert f"left {top / 'host/place/deep/b.txt'}: it was changed" in "\n".join(lines)
    else:
        with pytest.raises(NotOurs, match=f"{link} is a link"):
            list(place.take_away())
    with pytest.raises(NotOurs):
        list(place.put({"a.txt": b"new", "deep/b.txt": b"new"}))

    assert whole(tmp_path / "own") == before


@pytest.mark.parametrize("steps", range(6))
def test_a_folder_that_becomes_a_link_meanwhile_leads_nowhere(tmp_path: Path, steps: int) -> None:
    folder = tmp_path / "place"
    put(folder, FILES)
    put(tmp_path / "valuable", FILES)
    before = whole(tmp_path / "valuable")

    taking = Place(folder).take_away()
    for _ in range(steps):
        next(taking, None)
    if folder.exists():
        folder.rename(tmp_path / "moved")
    folder.symlink_to(tmp_path / "valuable")
    try:
        list(taking)
    except NotOurs as refused:
        assert steps == 0 and "is a link" in str(refused)

    assert whole(tmp_path / "valuable") == before
    assert folder.is_symlink()


@pytest.mark.parametrize("steps", range(5))
def test_nothing_is_written_through_a_folder_that_becomes_a_link_meanwhile(
    tmp_path: Path, steps: int
) -> None:
    folder = tmp_path / "place"
    put(folder, FILES)
    put(tmp_path / "valuable", FILES)
    before = whole(tmp_path / "valuable")

    putting = Place(folder).put({"a.txt": b"new", "deep/b.txt": b"new", "c.txt": b"new"})
    for _ in range(steps):
        next(putting, None)
    folder.rename(tmp_path / "moved")
    folder.symlink_to(tmp_path / "valuable")
    try:
        list(putting)
    except NotOurs as refused:
        assert "is a link" in str(refused)

    assert whole(tmp_path / "valuable") == before


def no_file(path: Path, kind: str) -> None:
    """Put something in the place of a file at which a reader could wait, or that has no end."""
    path.unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    elif kind == "folder":
        path.mkdir()
    else:
        with path.open("wb") as huge:
            huge.truncate(max(FILE_LIMIT, MANIFEST_LIMIT) + 1)


@pytest.mark.parametrize("kind", ["pipe", "device", "folder", "huge"])
def test_what_is_no_manifest_is_refused_and_never_waited_for(tmp_path: Path, kind: str) -> None:
    folder = tmp_path / "place"
    put(folder, FILES)
    no_file(folder / MANIFEST, kind)

    with pytest.raises(NotOurs, match="is no manifest"):
        list(Place(folder).take_away())
    with pytest.raises(NotOurs, match="is no manifest"):
        put(folder, FILES)

    assert (folder / "a.txt").read_bytes() == b"one"


@pytest.mark.parametrize("kind", ["pipe", "device", "folder", "huge"])
def test_what_is_no_installed_file_is_left_and_never_waited_for(tmp_path: Path, kind: str) -> None:
    folder = tmp_path / "place"
    put(folder, FILES)
    no_file(folder / "a.txt", kind)

    assert Place(folder).changed() == [folder / "a.txt"]
    assert not Place(folder).holds(FILES)
    lines = list(Place(folder).take_away())

    assert f"left {folder / 'a.txt'}: it was changed since hindnote wrote it" in lines
    assert os.path.lexists(folder / "a.txt")
