"""One note as it is kept, and read access to the notes of a call."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Literal, Self

from msgspec import Struct

from hindnote.core.errors import Refused
from hindnote.core.notes import clock
from hindnote.core.notes.address import SUFFIX, Address, Homes
from hindnote.core.notes.note import READ_LIMIT, Note, decode, version_of
from hindnote.core.notes.storage import storage
from hindnote.core.text.messages import quote

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hindnote.core.notes.facts import Facts
    from hindnote.core.notes.storage import Bodies, Place, Saved
    from hindnote.core.plugins.models import Identity
    from hindnote.core.tools.operation import BoundCall

Change = Literal["none", "body", "metadata", "file"]
"""What an update changed in a note; ``file`` means both, or its name."""

ABSENT = "absent"
"""Value of ``expected_version`` for a note that must not exist."""

SUGGESTED_FROM = 1_000
"""Maximum number of names in a folder that are compared for a suggestion."""


class Stored(Struct, frozen=True):
    """One note as it is kept."""

    address: Address
    note: Note
    file: Saved
    """What was read."""

    @property
    def data(self) -> bytes:
        """The file's bytes."""
        return self.file.data or b""

    @property
    def mtime_ns(self) -> int:
        """The file's modification time."""
        return self.file.mtime_ns

    @property
    def version(self) -> str:
        """Short hash of the file's bytes."""
        return version_of(self.data)

    @property
    def updated(self) -> int:
        """The later of the recorded time and the file's time, so that a manual edit counts."""
        return max(self._file_ms, self.note.time_of("updatedAt") or 0)

    @property
    def created(self) -> int:
        """The recorded time, else the earliest time that is known of the file."""
        recorded = self.note.time_of("createdAt")
        if recorded is not None:
            return recorded
        born = self.file.born_ms
        return self._file_ms if born is None else min(self._file_ms, born)

    @property
    def _file_ms(self) -> int:
        return self.mtime_ns // clock.MILLISECOND_NS


class Written(Struct, frozen=True):
    """The result of a write."""

    outcome: Literal["created", "overwrote", "restored"]
    version: str


class Updated(Struct, frozen=True):
    """The result of an update, with the body before and after."""

    version: str
    applied: int
    change: Change
    before: str
    after: str


def load(address: Address, place: Place) -> Stored:
    """Return the note at a place.

    Raises:
        Refused: ``not_text``, ``too_large``, ``not_found``.
        OSError: It cannot be read.
    """
    file = place.read(READ_LIMIT)
    return Stored(address, Note.parse(decode(file.data or b"", quote(place.shown))), file)


def existing(address: Address, place: Place) -> Stored:
    """Return the note at a place; if there is none, refuse and suggest similar names."""
    if not place.is_free:
        return load(address, place)
    import difflib

    names = place.siblings()[:SUGGESTED_FROM]
    notes = [name for name in names if name.endswith(SUFFIX)]
    similar = difflib.get_close_matches(place.name, notes, n=3)
    folder = place.shown[: -len(address.path[-1])]
    hint = f"; similar: {', '.join(quote(folder + name) for name in similar)}" if similar else ""
    raise Refused("not_found", f"there is no note {quote(place.shown)}{hint}")


def expect(expected: str | None, stored: Stored | None, shown: str) -> None:
    """Refuse a note that does not have the expected version.

    Raises:
        Refused: ``changed``, naming the current version.
    """
    if expected is None or expected == (ABSENT if stored is None else stored.version):
        return
    if stored is None:
        problem = (
            f"does not exist, so it has no version {quote(expected)}; nothing was changed. To create "
            f"it leave expected_version out, or give the word {ABSENT}"
        )
    elif expected == ABSENT:
        problem = (
            f"exists already, with version {stored.version}, and expected_version {ABSENT} only "
            "creates; nothing was changed. Read it and give that version to change it"
        )
    else:
        problem = (
            f"has version {stored.version}, not {quote(expected)} as expected; nothing was changed. "
            "Read it and decide again"
        )
    raise Refused("changed", f"{quote(shown)} {problem}")


class Reader:
    """The notes that one identity can read in one project.

    Args:
        identity: Who is calling, and the notes home.
        project_key: Key of the project that contains the call's directory, if it exists.
    """

    def __init__(self, identity: Identity, project_key: str | None) -> None:
        self.files = storage(identity)
        self.homes = Homes(identity, project_key, partial(self.files.notebook, identity.host))

    @classmethod
    def of(cls, bound: BoundCall) -> Self:
        """Return the reader for a call."""
        return cls(bound.identity, bound.project_key)

    def read(self, address: Address) -> Stored:
        """Return a note, also one that the session of a fork inherits.

        Raises:
            Refused: ``not_found``, ``outside_home``, ``not_text``, ``too_large``, ``io_error``.
        """
        try:
            return self._own(address)
        except Refused as refused:
            if refused.code != "not_found":
                raise
            stored = self.inherited(address)
            if stored is None:
                raise
            return stored

    def inherited(self, address: Address) -> Stored | None:
        """Return the note that a fork inherits at an address; None when there is none."""
        if not self.homes.has_session or address.home != self.homes.session:
            return None
        for home in self.homes.inherited:
            try:
                stored = self._own(Address(home, address.path))
            except Refused as refused:
                if refused.code != "not_found":
                    raise
                continue
            if home.passes_on(stored.created):
                return stored
        return None

    def _own(self, address: Address) -> Stored:
        shown = str(address)
        with self.files.reading(address.segments, shown) as place, self.files.refusing(shown):
            return existing(address, place)

    def count_read(self, stored: Stored) -> None:
        """Count one read of a note, without changing its file."""
        self.files.count_read(stored.address.segments, stored.note.values)

    def bodies(self, notes: Sequence[Facts]) -> Bodies:
        """Return a reader of the bodies of many listed notes."""
        return self.files.bodies(notes, lambda address: self.read(address).note.body)
