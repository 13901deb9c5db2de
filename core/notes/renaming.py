"""Rename a note; its metadata and its read count move along."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hindnote.core.errors import Refused
from hindnote.core.fs.names import same_elsewhere
from hindnote.core.notes import changes
from hindnote.core.notes.address import check_new
from hindnote.core.notes.note import version_of
from hindnote.core.notes.reader import Updated, load
from hindnote.core.text.messages import quote

if TYPE_CHECKING:
    from hindnote.core.notes.address import Address
    from hindnote.core.notes.reader import Stored
    from hindnote.core.notes.storage import Place
    from hindnote.core.notes.store import Store


def rename(store: Store, source: Address, target: Address, expected: str | None = None) -> Updated:
    """Rename a note; renaming it to its own address changes nothing.

    After a crash at any point the whole note is at one of the two addresses.

    Raises:
        Refused: ``already_exists``, ``address_collision`` and the codes of a write.
    """

    def change(place: Place, stored: Stored) -> Updated:
        if source == target:
            return Updated(stored.version, 0, "none", stored.note.body, stored.note.body)
        check_new(target)
        return _move(store, place, stored, target)

    updated = store.changing_existing(source, change, expected, target)
    if source != target:
        store.files.prune(source.segments[:-1], keep=len(source.home.folder))
        store.files.move_count(source.segments, target.segments)
    return updated


def _move(store: Store, place: Place, stored: Stored, target: Address) -> Updated:
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
        # The shadow keeps the ancestor's note from appearing again at the old address.
        if place.is_free:
            mtime_ns = stored.mtime_ns
            moved = place.copy_to(to, data, mtime_ns=mtime_ns, spared=spared, left=shadow)
        else:
            moved = place.move_to(to, data, spared=spared, left=shadow)
        if not moved:
            raise Refused("already_exists", _occupied(target, to))
    return Updated(version_of(data), 0, "file", body, body)


def _archived(store: Store, inherited: Stored, address: Address) -> bytes:
    """Return the content of an archived note that hides an ancestor's note in a fork."""
    note = inherited.note
    return store.encoded(note, address, changes.asked_for(note, None, archived=True), {}, note.body)


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


def _occupied(target: Address, place: Place) -> str:
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
