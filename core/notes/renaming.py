"""Rename a note; its metadata and its read count move along."""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from typing import TYPE_CHECKING

from hindnote.core.errors import Refused
from hindnote.core.fs import atomic, saving
from hindnote.core.fs.handles import look, names_in
from hindnote.core.fs.names import same_elsewhere
from hindnote.core.notes import changes
from hindnote.core.notes.address import check_new
from hindnote.core.notes.note import READ_LIMIT, version_of
from hindnote.core.notes.reader import Updated, load
from hindnote.core.notes.tree import read_file, refuse_collision
from hindnote.core.text.messages import quote

if TYPE_CHECKING:
    from hindnote.core.notes.address import Address
    from hindnote.core.notes.reader import Stored
    from hindnote.core.notes.store import Store
    from hindnote.core.notes.tree import NotePlace


def rename(store: Store, source: Address, target: Address, expected: str | None = None) -> Updated:
    """Rename a note; renaming it to its own address changes nothing.

    After a crash at any point the whole note is at one of the two addresses.

    Raises:
        Refused: ``already_exists``, ``address_collision`` and the codes of a write.
    """

    def change(place: NotePlace, stored: Stored) -> Updated:
        if source == target:
            return Updated(stored.version, 0, "none", stored.note.body, stored.note.body)
        check_new(target)
        return _move(store, place, stored, target)

    updated = store.changing_existing(source, change, expected, target)
    if source != target:
        store.tree.prune(source.segments[:-1], keep=len(source.home.folder))
        store.move_count(source, target)
    return updated


def _move(store: Store, place: NotePlace, stored: Stored, target: Address) -> Updated:
    spared = _spared(store, stored.address, target, place.name)
    with store.tree.writing(target.segments, str(target), make=True, spared=spared) as to:
        body = stored.note.body
        owner = changes.owner(
            stored.note,
            was_session=stored.address.home.kind == "session",
            will_session=target.home.kind == "session",
            project_key=store.homes.project_key,
        )
        data = store.encoded(stored.note, target, {}, owner, body)
        hidden = store.inherited(stored.address)
        shadow = None if hidden is None else _archived(store, hidden, stored.address)
        if to.status is None and store.inherited(target) is not None:
            raise Refused("already_exists", _occupied_by_ancestor(target))
        if place.status is None:
            _copy(to, target, stored, data, spared)
        elif to.status is None:
            _relocate(place, to, stored, data, spared)
        elif _was_killed(place, to, stored, data):
            saving.take_away(place.folder, place.name, stored.as_read)
        elif os.path.samestat(to.status, stored.status):
            # Both names belong to one file: this file system ignores letter case.
            os.replace(place.name, target.path[-1], src_dir_fd=place.folder, dst_dir_fd=to.folder)
        else:
            raise Refused("already_exists", _occupied(target, to))
        if shadow is not None:
            # Otherwise the ancestor's note would appear again at the old address.
            with suppress(FileExistsError):
                mtime_ns = stored.status.st_mtime_ns
                atomic.create(place.folder, place.name, shadow, mtime_ns=mtime_ns)
    return Updated(version_of(data), 0, "file", body, body)


def _archived(store: Store, inherited: Stored, address: Address) -> bytes:
    """Return the content of an archived note that hides an ancestor's note in a fork."""
    note = inherited.note
    return store.encoded(note, address, changes.asked_for(note, None, archived=True), {}, note.body)


def _copy(
    to: NotePlace, target: Address, stored: Stored, data: bytes, spared: frozenset[str]
) -> None:
    """Copy a note that a fork inherits to a new name; the ancestor keeps its own."""
    if to.status is not None:
        if to.status.st_mtime_ns == stored.status.st_mtime_ns and _holds(to, data):
            return  # the same rename was killed here, and is finished now
        raise Refused("already_exists", _occupied(target, to))
    refuse_collision(to, spared=spared)
    try:
        atomic.create(to.folder, to.name, data, mtime_ns=stored.status.st_mtime_ns)
    except FileExistsError:
        raise saving.ChangedError from None


def _relocate(
    place: NotePlace, to: NotePlace, stored: Stored, data: bytes, spared: frozenset[str]
) -> None:
    """Move a note to a free name, and set the owner that it has there.

    The owner changes first and the name last, in one step. So after a crash the whole note is at
    one address, and the same rename can complete the change.
    """
    refuse_collision(to, spared=spared)
    before = stored.as_read
    if data != stored.data:
        before = _rewritten(place, before, data)
    try:
        _rename(place, to, before)
    except (OSError, saving.ChangedError) as error:
        if data != stored.data:
            with suppress(OSError, saving.ChangedError):
                _rewritten(place, before, stored.data)
        if isinstance(error, FileExistsError):
            raise saving.ChangedError from None
        raise


def _rename(place: NotePlace, to: NotePlace, before: saving.Version) -> None:
    try:
        saving.move(place.folder, place.name, to.folder, to.name, before)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        # A folder of the home is on another disk, so the file is copied there.
        times = {"mode": before.status.st_mode, "mtime_ns": before.status.st_mtime_ns}
        atomic.create(to.folder, to.name, before.data or b"", **times)
        try:
            saving.take_away(place.folder, place.name, before)
        except BaseException:
            os.unlink(to.name, dir_fd=to.folder)
            raise


def _rewritten(place: NotePlace, before: saving.Version, data: bytes) -> saving.Version:
    mtime_ns = before.status.st_mtime_ns
    saving.save(place.folder, place.name, data, before, mtime_ns=mtime_ns)
    status = look(place.folder, place.name)
    if status is None:
        raise saving.ChangedError
    return saving.Version(status, data)


def _was_killed(place: NotePlace, to: NotePlace, stored: Stored, data: bytes) -> bool:
    """Return whether a rename was killed while the note had both names, and must be completed.

    Then both are names of one file; or the target has exactly the bytes that the rename would
    write, and the source's modification time to the nanosecond.
    """
    if to.status is None:
        return False
    if os.path.samestat(to.status, stored.status):
        # If letter case is ignored, the folder lists only one of the two names.
        return place.name in names_in(place.folder) and to.name in names_in(to.folder)
    return to.status.st_mtime_ns == stored.status.st_mtime_ns and _holds(to, data)


def _holds(place: NotePlace, data: bytes) -> bool:
    """Return whether a file contains exactly these bytes."""
    try:
        return read_file(place, READ_LIMIT)[0] == data
    except Refused:
        return False


def _spared(store: Store, source: Address, target: Address, name: str) -> frozenset[str]:
    """Return names on the source's path that do not count as a collision for the target.

    A change of only letter case is allowed. For a folder's name this requires that the folder
    contains only the note, and so is renamed with it.
    """
    if source.home != target.home or len(source.path) != len(target.path):
        return frozenset()
    pairs = list(zip(source.path, target.path, strict=True))
    if any(same_elsewhere(old) != same_elsewhere(new) for old, new in pairs):
        return frozenset()
    folders = [index for index, (old, new) in enumerate(pairs[:-1]) if old != new]
    if not folders:
        return frozenset({name})
    above = (*source.home.folder, *source.path[: folders[0]])
    lone = store.tree.holds_one(above, source.path[folders[0] : -1])
    return frozenset({name, *source.path[:-1]}) if lone else frozenset({name})


def _occupied_by_ancestor(target: Address) -> str:
    return (
        f"{quote(str(target))} exists already (inherited from the session that this one was forked "
        "from), and nothing was renamed; choose another address, or rename that one first"
    )


def _occupied(target: Address, place: NotePlace) -> str:
    try:
        archived = load(target, place).note.archived_at is not None
    except Refused:
        state = "file"
    else:
        state = "archived note" if archived else "live note"
    return (
        f"{quote(str(target))} exists already ({state}), and nothing was renamed; choose another "
        "address, or rename that one first"
    )
