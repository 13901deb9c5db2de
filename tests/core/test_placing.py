from __future__ import annotations

from pathlib import Path

import pytest

from hindnote.core.placing import MANIFEST, NotOurs, Place

FILES = {"a.txt": b"one", "deep/b.txt": b"two"}


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
    assert lines == [f"wrote {folder / name}" for name in (MANIFEST, "a.txt", "deep/b.txt")]


def test_put_twice_touches_nothing(tmp_path: Path) -> None:
    put(tmp_path / "place", FILES)

    assert put(tmp_path / "place", FILES) == []


def test_put_replaces_what_changed_and_removes_what_is_no_longer_shipped(tmp_path: Path) -> None:
    folder = tmp_path / "place"
    put(folder, FILES)

    put(folder, {"a.txt": b"new", "c.txt": b"three"})

    assert tree(folder) == {"a.txt": b"new", "c.txt": b"three"}
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


@pytest.mark.parametrize("broken_after", range(3))
def test_an_interrupted_first_put_can_be_taken_away(tmp_path: Path, broken_after: int) -> None:
    folder = tmp_path / "place"
    steps = Place(folder).put(FILES)
    for _ in range(broken_after):
        next(steps)
    steps.close()

    list(Place(folder).take_away())

    assert not folder.exists()


def test_put_refuses_a_folder_of_somebody_else(tmp_path: Path) -> None:
    (tmp_path / "place").mkdir()

    with pytest.raises(NotOurs, match="not written by hindnote"):
        put(tmp_path / "place", FILES)


def test_put_refuses_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "place").symlink_to(tmp_path / "real")

    with pytest.raises(NotOurs, match="is a link"):
        put(tmp_path / "place", FILES)


def test_put_refuses_a_file_that_was_changed_and_writes_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "place"
    put(folder, FILES)
    (folder / "a.txt").write_bytes(b"mine")

    with pytest.raises(NotOurs, match=r"a\.txt is not as hindnote wrote it"):
        put(folder, {"a.txt": b"new", "deep/b.txt": b"new"})

    assert tree(folder) == {"a.txt": b"mine", "deep/b.txt": b"two"}


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
    assert lines == [f"removed {folder / name}" for name in ("a.txt", "deep/b.txt", MANIFEST)]
    assert list(Place(folder).take_away()) == []


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
    folder = tmp_path / "place"

    would = list(Place(folder, dry_run=True).put(FILES))
    assert list(tmp_path.iterdir()) == []
    done = put(folder, FILES)
    assert [line.removeprefix("would write ") for line in would] == [
        line.removeprefix("wrote ") for line in done
    ]

    would = list(Place(folder, dry_run=True).take_away())
    assert tree(folder) == FILES
    assert len(would) == 3
    assert all(line.startswith("would remove ") for line in would)


def test_a_failed_write_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "place"
    put(folder, FILES)

    def full(self: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OSError, match="No space"):
        put(folder, {"a.txt": b"new"})

    assert tree(folder) == FILES


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
