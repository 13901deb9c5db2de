"""The kept versions of a note: who changed it when, and how an earlier version comes back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hindnote.core.errors import Refused
from hindnote.core.notes import clock
from hindnote.core.notes.address import check_writable
from hindnote.core.notes.note import READ_LIMIT
from hindnote.core.text.messages import quote

if TYPE_CHECKING:
    from hindnote.core.notes.address import Address
    from hindnote.core.notes.reader import Reader
    from hindnote.core.notes.rows import Kept
    from hindnote.core.notes.store import Store


def log(notes: Reader, address: Address) -> list[Kept]:
    """Return the changes of a note, newest first.

    Raises:
        Refused: ``not_found``, when none is kept; ``io_error``.
    """
    found = notes.files.kept(address.segments)
    if found is None:
        raise _keeps_none()
    if not found:
        raise Refused("not_found", f"no change of {quote(str(address))} is kept")
    return found


def restore(store: Store, address: Address, version: str) -> None:
    """Give a note the bytes that it had in an earlier version; this is a change as any other.

    Raises:
        Refused: ``not_found``, ``read_only_home``, ``address_collision``, ``io_error``.
    """
    check_writable(address)
    shown = str(address)
    data = store.files.kept_bytes(address.segments, version)
    if data is None:
        log(store, address)
        raise Refused(
            "not_found", f"no version {quote(version)} of {quote(shown)} is kept; list them first"
        )

    def attempt() -> None:
        with store.files.writing(address.segments, shown, make=True) as place:
            now = clock.now_ms() * clock.MILLISECOND_NS
            if place.is_free:
                place.create(data, mtime_ns=now)
            else:
                place.read(READ_LIMIT)
                place.replace(data, mtime_ns=now)

    store.changing(shown, attempt, address)


def _keeps_none() -> Refused:
    return Refused(
        "not_found",
        "a notes home that is a folder keeps no earlier versions; one that is a database does",
    )
