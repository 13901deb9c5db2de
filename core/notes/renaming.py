"""Rename a note; its metadata and its read count move along."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from hindnote.core.errors import Refused
from hindnote.core.fs.names import same_elsewhere
from hindnote.core.fs.saving import ChangedError
from hindnote.core.notes import changes
from hindnote.core.notes.address import check_new
from hindnote.core.notes.note import READ_LIMIT, version_of
from hindnote.core.notes.reader import Updated, load
from hindnote.core.text.messages import quote

if TYPE_CHECKING:
    from hindnote.core.notes.address import Address
    from hindnote.core.notes.place import NotePlace
    from hindnote.core.notes.reader import Stored
    from hindnote.core.notes.store import Store


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
        store.files.prune(source.segments[:-1], keep=len(source.home.folder))
        store.files.move_count(source.segments, target.segments)
    return updated


def _move(store: Store, place: NotePlace, stored: Stored, target: Address) -> Updated:
    spared = _spared(store, stored.address, target, place.name)
    with store.files.writing(target.segments, str(target), make=True, spared=spared) as to:
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
        if to.is_free and store.inherited(target) is not None:
            raise Refused("already_exists", _occupied_by_ancestor(target))
        if place.is_free:
            _copy(to, target, stored, data, spared)
        elif to.is_free:
            _relocate(place, to, stored, data, spared)
        elif _was_killed(place, to, stored, data):
            place.remove(stored.file)
        elif to.is_same_file(stored.file):
            # Both names belong to one file: this file system ignores letter case.
            place.respell(to, target.path[-1])
        else:
            raise Refused("already_exists", _occupied(target, to))
        if shadow is not None:
            # Otherwise the ancestor's note would appear again at the old address.
            with suppress(ChangedError):
                place.create(shadow, mtime_ns=stored.mtime_ns)
    return Updated(version_of(data), 0, "file", body, body)


def _archived(store: Store, inherited: Stored, address: Address) -> bytes:
    """Return the content of an archived note that hides an ancestor's note in a fork."""
    note = inherited.note
    return store.encoded(note, address, changes.asked_for(note, None, archived=True), {}, note.body)


def _copy(
    to: NotePlace, target: Address, stored: Stored, data: bytes, spared: frozenset[str]
) -> None:
    """Copy a note that a fork inherits to a new name; the ancestor keeps its own."""
    if not to.is_free:
        if _holds(to, data, stored):
            return  # the same rename was killed here, and is finished now
        raise Refused("already_exists", _occupied(target, to))
    to.refuse_collision(spared)
    to.create(data, mtime_ns=stored.mtime_ns)


def _relocate(
    place: NotePlace, to: NotePlace, stored: Stored, data: bytes, spared: frozenset[str]
) -> None:
    """Move a note to a free name, and set the owner that it has there.

    The owner changes first and the name last, in one step. So after a crash the whole note is at
    one address, and the same rename can complete the change.
    """
    to.refuse_collision(spared)
    before = stored.file
    if data != stored.data:
        place.replace(data, before, mtime_ns=stored.mtime_ns)
        before = place.written(data)
    try:
        place.move_to(to, before)
    except (OSError, ChangedError):
        if data != stored.data:
            with suppress(OSError, ChangedError):
                place.replace(stored.data, before, mtime_ns=stored.mtime_ns)
        raise


def _was_killed(place: NotePlace, to: NotePlace, stored: Stored, data: bytes) -> bool:
    """Return whether a rename was killed while the note had both names, and must be completed.

    Then both are names of one file; or the target has exactly the bytes that the rename would
    write, and the source's modification time to the nanosecond.
    """
    if to.is_same_file(stored.file):
        # If letter case is ignored, the folder lists only one of the two names.
        return place.name in place.siblings() and to.name in to.siblings()
    return _holds(to, data, stored)


def _holds(place: NotePlace, data: bytes, stored: Stored) -> bool:
    """Return whether a file has exactly these bytes, and the modification time of a note."""
    try:
        file = place.read(READ_LIMIT)
    except Refused:
        return False
    return file.data == data and file.status.st_mtime_ns == stored.mtime_ns


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
    lone = store.files.holds_one(above, source.path[folders[0] : -1])
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
