from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hindnote.core.fs import exchange, handles, saving


@pytest.fixture
def root(tmp_path: Path) -> Iterator[int]:
    with handles.closing(handles.open_root(tmp_path)) as handle:
        yield handle


EXCHANGE = exchange.exchange


def nothing() -> None:
    pass


class Folder:
    """One note, and somebody who saves it just before or after a step of ours."""

    def __init__(self, path: Path, root: int, monkeypatch: pytest.MonkeyPatch) -> None:
        self.path = path
        self.root = root
        self.note = path / "plan.md"
        self.note.write_text("read")
        self.before = self.version()
        self._patch = monkeypatch
        self._exchanges = 0
        self._around: dict[int, tuple[Callable[[], object], Callable[[], object]]] = {}

    def version(self) -> saving.Version:
        data, status = handles.read_file(self.root, "plan.md", 100)
        return saving.Version(status, data)

    def save(self, data: bytes = b"ours") -> None:
        saving.save(self.root, "plan.md", data, self.before, mtime_ns=1_000_000_000)

    def around(
        self, number: int, before: Callable[[], object], after: Callable[[], object]
    ) -> None:
        """Do something right before and right after the exchange of this number."""
        self._around[number] = (before, after)
        self._patch.setattr(exchange, "exchange", self._exchange)

    def _exchange(self, folder: int, one: str, other: str) -> None:
        self._exchanges += 1
        before, after = self._around.get(self._exchanges, (nothing, nothing))
        before()
        EXCHANGE(folder, one, other)
        after()

    def edit(self, text: str) -> None:
        """Save as most programs do: under another name, then renamed."""
        (self.path / "edited").write_text(text)
        (self.path / "edited").replace(self.note)

    def overwrite(self, text: str) -> None:
        """Save as some programs do: in place."""
        self.note.write_text(text)

    def files(self) -> dict[str, str]:
        return {path.name: path.read_text() for path in self.path.iterdir()}


@pytest.fixture
def folder(tmp_path: Path, root: int, monkeypatch: pytest.MonkeyPatch) -> Folder:
    return Folder(tmp_path, root, monkeypatch)


def test_an_unchanged_file_is_replaced(folder: Folder) -> None:
    folder.note.chmod(0o640)
    folder.before = folder.version()

    folder.save()

    assert folder.files() == {"plan.md": "ours"}
    assert folder.note.stat().st_mode & 0o777 == 0o640
    assert folder.note.stat().st_mtime == 1


@pytest.mark.parametrize("way", ["edit", "overwrite"])
def test_what_somebody_saves_at_the_last_moment_stays(folder: Folder, way: str) -> None:
    folder.around(1, lambda: getattr(folder, way)("theirs"), nothing)

    with pytest.raises(saving.ChangedError):
        folder.save()

    assert folder.files() == {"plan.md": "theirs"}


@pytest.mark.parametrize("way", ["edit", "overwrite"])
def test_a_save_of_the_same_size_and_time_is_seen(folder: Folder, way: str) -> None:
    def same_stamp() -> None:
        times = folder.note.stat()
        getattr(folder, way)("REAd")
        os.utime(folder.note, ns=(times.st_atime_ns, times.st_mtime_ns))

    folder.around(1, same_stamp, nothing)

    with pytest.raises(saving.ChangedError):
        folder.save()

    assert folder.files() == {"plan.md": "REAd"}


@pytest.mark.parametrize("way", ["edit", "overwrite"])
def test_of_two_saves_around_ours_the_later_one_stays(folder: Folder, way: str) -> None:
    folder.around(1, lambda: folder.edit("first"), lambda: getattr(folder, way)("second"))

    with pytest.raises(saving.ChangedError):
        folder.save()

    assert folder.files() == {"plan.md": "second"}


def test_a_save_between_two_exchanges_stays(folder: Folder) -> None:
    folder.around(1, lambda: folder.edit("first"), nothing)
    folder.around(2, lambda: folder.edit("second"), lambda: folder.edit("third"))

    with pytest.raises(saving.ChangedError):
        folder.save()

    assert folder.files() == {"plan.md": "third"}


def test_what_an_editor_writes_after_its_file_was_displaced_is_not_lost(folder: Folder) -> None:
    """It empties the file, we take the empty file for the note, and then it writes."""
    if not hasattr(__import__("fcntl"), "F_SETLEASE"):
        pytest.skip("this system does not tell who has a file open")
    with folder.note.open("w") as editor:
        folder.before = folder.version()
        with pytest.raises(saving.ChangedError):
            folder.save()
        editor.write("theirs")

    assert folder.files() == {"plan.md": "theirs"}


@pytest.mark.parametrize("left", ["link", "folder", "nothing"])
def test_what_is_no_file_any_more_stays_as_it_is(folder: Folder, left: str) -> None:
    def replace() -> None:
        folder.note.unlink()
        if left == "link":
            folder.note.symlink_to("elsewhere")
        elif left == "folder":
            folder.note.mkdir()

    folder.around(1, replace, nothing)

    with pytest.raises(saving.ChangedError):
        folder.save()

    assert [path.name for path in folder.path.iterdir()] == (
        [] if left == "nothing" else ["plan.md"]
    )
    assert folder.note.is_symlink() == (left == "link")
    assert folder.note.is_dir() == (left == "folder")


def test_without_an_exchange_a_change_before_the_last_look_is_seen(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unsupported(*_: object) -> None:
        raise exchange.UnsupportedError

    monkeypatch.setattr(exchange, "exchange", unsupported)
    folder.save(b"ours")
    assert folder.files() == {"plan.md": "ours"}
    folder.before = folder.version()

    def saved_meanwhile(*_: object) -> None:
        folder.edit("theirs")
        raise exchange.UnsupportedError

    monkeypatch.setattr(exchange, "exchange", saved_meanwhile)
    with pytest.raises(saving.ChangedError):
        folder.save(b"more")

    assert folder.files() == {"plan.md": "theirs"}


# -- killed in between -------------------------------------------------------------


class Killed(BaseException):
    """Stands for a kill: nothing of ours runs after it."""


def kill(folder: Folder, monkeypatch: pytest.MonkeyPatch, *, exchanged: bool) -> None:
    def die() -> None:
        raise Killed

    folder.around(1, nothing if exchanged else die, die if exchanged else nothing)
    with pytest.raises(Killed):
        folder.save()
    monkeypatch.undo()


@pytest.mark.parametrize("exchanged", [False, True])
def test_what_a_killed_save_left_is_removed(
    folder: Folder, monkeypatch: pytest.MonkeyPatch, exchanged: bool
) -> None:
    kill(folder, monkeypatch, exchanged=exchanged)
    assert len(folder.files()) == 2

    saving.recover(folder.root)

    assert folder.files() == {"plan.md": "ours" if exchanged else "read"}


def test_a_save_that_a_killed_one_displaced_gets_its_name_back(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die() -> None:
        raise Killed

    folder.around(1, lambda: folder.edit("theirs"), die)
    with pytest.raises(Killed):
        folder.save()
    monkeypatch.undo()
    assert folder.note.read_text() == "ours"

    saving.recover(folder.root)

    assert folder.files() == {"plan.md": "theirs"}


@pytest.mark.parametrize("later", ["saved again", "removed", "renamed"])
def test_a_displaced_save_whose_name_has_moved_on_is_kept_beside_it(
    folder: Folder, monkeypatch: pytest.MonkeyPatch, later: str
) -> None:
    def die() -> None:
        raise Killed

    folder.around(1, lambda: folder.edit("theirs"), die)
    with pytest.raises(Killed):
        folder.save()
    monkeypatch.undo()
    if later == "saved again":
        folder.edit("more")
    elif later == "removed":
        folder.note.unlink()
    else:
        folder.note.rename(folder.path / "other.md")

    saving.recover(folder.root)

    kept = {name: text for name, text in folder.files().items() if ".recovered-" in name}
    assert list(kept.values()) == ["theirs"]
    assert all(name.endswith(".md") and not name.startswith(".") for name in folder.files())


# -- renaming ----------------------------------------------------------------------


@pytest.fixture
def saved_before_a_move(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let somebody save the note just before it is moved."""
    real = exchange.move
    saves = iter(["theirs"])

    def watched(*names: object) -> None:
        for text in saves:
            folder.edit(text)
        real(*names)  # type: ignore[arg-type]

    monkeypatch.setattr(exchange, "move", watched)


@pytest.fixture(params=["one step", "links"])
def renaming(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    def unsupported(*_: object) -> None:
        raise exchange.UnsupportedError

    if request.param == "links":
        monkeypatch.setattr(exchange, "move", unsupported)
    name: str = request.param
    return name


@pytest.mark.usefixtures("renaming")
def test_a_file_is_renamed_to_a_free_name_alone(folder: Folder) -> None:
    (folder.path / "taken.md").write_text("theirs")

    with pytest.raises(FileExistsError):
        saving.move(folder.root, "plan.md", folder.root, "taken.md", folder.before)
    saving.move(folder.root, "plan.md", folder.root, "new.md", folder.before)

    assert folder.files() == {"new.md": "read", "taken.md": "theirs"}


@pytest.mark.usefixtures("saved_before_a_move")
def test_a_file_that_was_saved_at_the_last_moment_is_not_taken_away(folder: Folder) -> None:
    with pytest.raises(saving.ChangedError):
        saving.take_away(folder.root, "plan.md", folder.before)

    assert folder.files() == {"plan.md": "theirs"}


@pytest.mark.usefixtures("renaming")
def test_an_unchanged_file_is_taken_away(folder: Folder) -> None:
    saving.take_away(folder.root, "plan.md", folder.before)

    assert folder.files() == {}


@pytest.mark.usefixtures("saved_before_a_move")
def test_a_file_that_was_saved_meanwhile_keeps_its_name(folder: Folder) -> None:
    with pytest.raises(saving.ChangedError):
        saving.move(folder.root, "plan.md", folder.root, "new.md", folder.before)

    assert folder.files() == {"plan.md": "theirs"}
