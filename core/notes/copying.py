"""Copy a whole notes home into another one, of either kind. A copy that was ended goes on.

Every note is read back from the target and compared. Nothing in the target is overwritten: a note
that is there with other bytes is left alone and told.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal
from urllib.parse import unquote

from msgspec import Struct

from hindnote.core.errors import Refused
from hindnote.core.fs.saving import ChangedError
from hindnote.core.notes.address import SUFFIX, path_problem
from hindnote.core.notes.note import READ_LIMIT
from hindnote.core.notes.statements import home_depth
from hindnote.core.notes.storage import storage
from hindnote.core.plugins.models import Identity
from hindnote.core.text.messages import quote

if TYPE_CHECKING:
    from hindnote.core.notes.storage import Storage
    from hindnote.core.places.database_home import DatabaseHome

Segments = tuple[str, ...]


class Copied(Struct, frozen=True):
    """What became of one note."""

    note: str
    """Its path under the notes home."""

    outcome: Literal["copied", "same", "differs", "left"]
    """``left``: it cannot be copied; ``differs``: the target has other bytes there."""

    reason: str = ""


def copy(
    source: Path | DatabaseHome,
    target: Path | DatabaseHome,
    keys: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[Copied]:
    """Copy all notes that the person can see, with their times and read counts.

    Args:
        source: The home to copy from.
        target: The home to copy to.
        keys: The key of a project in the target by its key in the source, where these differ.

    Raises:
        Refused: ``io_error``, ``read_only_home``, ``locked``.
    """
    old, new = _opened(source), _opened(target)
    counts, known = old.counts(), new.counts()
    for segments in old.every():
        copied = _copied(old, new, segments, keys)
        yield copied
        count, to = counts.get(copied.note), _renamed(segments, new, keys)
        if count is not None and copied.outcome in ("copied", "same"):
            there = known.get("/".join(to), (0, 0))
            if count[0] > there[0]:
                new.put_count(to, count[0], max(count[1], there[1]))


def _opened(home: Path | DatabaseHome) -> Storage:
    return storage(Identity(home, "hindnote", None, "hindnote", "none"))


def _copied(old: Storage, new: Storage, segments: Segments, keys: Mapping[str, str]) -> Copied:
    name = "/".join(segments)
    problem = _problem(segments)
    if problem is not None:
        return Copied(name, "left", problem)
    try:
        with old.reading(segments, name) as place, old.refusing(name):
            note = place.read(READ_LIMIT)
        to = _renamed(segments, new, keys)
        return Copied(name, _put(new, to, note.data or b"", note.mtime_ns))
    except Refused as refused:
        if refused.code in ("io_error", "read_only_home", "locked"):
            raise
        return Copied(name, "left", refused.refusal.message)


def _put(
    new: Storage, segments: Segments, data: bytes, mtime_ns: int
) -> Literal["copied", "same", "differs"]:
    """Create a note unless it is there, and read it back.

    Raises:
        Refused: ``io_error``, ``address_collision``, ``read_only_home``, ``locked``.
    """
    name = "/".join(segments)
    made = False
    with new.refusing(name):
        home = segments[: home_depth(segments)]
        with new.locked(home), new.writing(segments, name, make=True) as place:
            place.refuse_other_kind()
            if place.is_free:
                place.refuse_collision()
                # Somebody else may create it meanwhile; then it is compared like any other.
                with suppress(ChangedError):
                    place.create(data, mtime_ns=mtime_ns)
                    made = True
        with new.reading(segments, name) as place:
            there = place.read(READ_LIMIT)
    if there.data != data:
        if made:
            raise Refused("io_error", f"{quote(name)} was not kept as it was copied")
        return "differs"
    return "copied" if made else "same"


def _problem(segments: Segments) -> str | None:
    """Return why a file is no note that can be copied."""
    if not segments[-1].endswith(SUFFIX):
        return f"it is no note, since its name does not end in {SUFFIX}"
    if len(segments) <= home_depth(segments):
        return "it is in no home of notes"
    return path_problem([unicodedata.normalize("NFC", one) for one in segments])


def _renamed(segments: Segments, new: Storage, keys: Mapping[str, str]) -> Segments:
    """Return where a note belongs in the new home, whose notebooks and keys may be others."""
    names = tuple(unicodedata.normalize("NFC", one) for one in segments)
    if names[0] == "project":
        return (names[0], keys.get(names[1], names[1]), *names[2:])
    if home_depth(names) < 3 or len(names) < 4:
        return names
    return (*new.notebook(names[0], unquote(names[2])), *names[3:])
