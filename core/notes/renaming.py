"""Giving a note another address: its metadata and its access count move along."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from hindnote.core.notes import atomic, changes
from hindnote.core.notes.address import check_new, same_elsewhere
from hindnote.core.notes.note import version_of
from hindnote.core.notes.stored import Updated, load
from hindnote.core.notes.tree import refuse_collision
from hindnote.core.outcome import Refused, quote

if TYPE_CHECKING:
    from hindnote.core.notes.address import Address
    from hindnote.core.notes.store import Store
    from hindnote.core.notes.stored import Stored
    from hindnote.core.notes.tree import Place


def rename(store: Store, source: Address, target: Address, expected: str | None = None) -> Updated:
    """Rename a note; onto itself nothing changes.

    The new file is whole before the old one goes, so a crash in between leaves both.

    Raises:
        Refused: ``already_exists``, ``address_collision`` and what a write refuses.
    """

    def change(place: Place, stored: Stored) -> Updated:
        if source == target:
            return Updated(stored.version, 0, "none", stored.note.body, stored.note.body)
        check_new(target)
        return _move(store, place, stored, target)

    updated = store.changing_existing(source, change, expected, target)
    if source != target:
        store.tree.prune(source.segments[:-1], keep=len(source.home.folder))
        store.move_count(source, target)
    return updated


def _move(store: Store, place: Place, stored: Stored, target: Address) -> Updated:
    spared = _spared(store, stored.address, target, place.name)
    with store.tree.writing(target.segments, str(target), make=True, spared=spared) as to:
        if to.status is not None and not os.path.samestat(to.status, stored.status):
            raise Refused("already_exists", _occupied(target, to))
        body = stored.note.body
        owner = changes.owner(
            stored.note,
            was_session=stored.address.home.kind == "session",
            will_session=target.home.kind == "session",
            project_key=store.homes.project_key,
        )
        data = store.encoded(stored.note, target, {}, owner, body)
        if to.status is not None:
            # One file under both names: letter case means nothing to this file system.
            os.replace(place.name, target.path[-1], src_dir_fd=place.folder, dst_dir_fd=to.folder)
        else:
            _relocate(place, to, stored, data, spared)
    return Updated(version_of(data), 0, "file", body, body)


def _relocate(place: Place, to: Place, stored: Stored, data: bytes, spared: frozenset[str]) -> None:
    refuse_collision(to, spared=spared)
    atomic.sweep(to.folder)
    mtime_ns = stored.status.st_mtime_ns
    atomic.put(to, data, expected=None, mtime_ns=mtime_ns, mode=stored.status.st_mode)
    try:
        atomic.take_away(place, stored.status)
    except BaseException:
        os.unlink(to.name, dir_fd=to.folder)
        raise


def _spared(store: Store, source: Address, target: Address, name: str) -> frozenset[str]:
    """Return names on the source's path that are no collision for the target.

    A change of letter case alone is allowed. For a folder's name, it is when the
    folder holds nothing but the note, and so goes with it.
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
