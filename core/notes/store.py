"""The store: all changes of a single note.

Each change locks the homes it touches, reads, computes the new file, and writes it only if nobody
saved the note meanwhile. Otherwise it is retried a few times before it refuses.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from msgspec.structs import replace

from hindnote.core.errors import Refused
from hindnote.core.fs.saving import ChangedError
from hindnote.core.notes import changes, clock, edits
from hindnote.core.notes.address import Address, check_new, check_writable
from hindnote.core.notes.note import ARCHIVED, Note, Origin, UnreadableMetadata, encode, version_of
from hindnote.core.notes.reader import (
    Change,
    Reader,
    Stored,
    Updated,
    Written,
    existing,
    expect,
    load,
)
from hindnote.core.text.messages import quote

if TYPE_CHECKING:
    from hindnote.core.notes.changes import Keys
    from hindnote.core.notes.edits import Replacement
    from hindnote.core.notes.storage import Place

T = TypeVar("T")


class Store(Reader):
    """The notes that one identity can read and change in one project."""

    def write(
        self, address: Address, content: str, origin: Origin, expected: str | None = None
    ) -> Written:
        """Replace a note's body, or create the note.

        Args:
            address: The note.
            content: The body; non-owned keys of frontmatter at its start are merged.
            origin: The note's new origin.
            expected: Version that the note must have, or ``absent``.
        """
        check_writable(address)
        shown = str(address)

        def attempt() -> Written:
            try:
                return self._put_write(address, content, origin, expected)
            except (FileNotFoundError, NotADirectoryError):
                # Somebody removed the file or a folder meanwhile.
                raise ChangedError from None

        return self.changing(shown, attempt, address)

    def update(
        self,
        address: Address,
        replacements: Sequence[Replacement],
        *,
        replace_all: bool = False,
        origin: str | None = None,
        archived: bool | None = None,
        expected: str | None = None,
    ) -> Updated:
        """Edit a note's body and change its metadata, all or nothing."""

        def change(place: Place, stored: Stored) -> Updated:
            body, applied = edits.apply(
                stored.note.body, replacements, replace_all=replace_all, shown=str(address)
            )
            asked = changes.asked_for(stored.note, origin, archived)
            return self._put_update(place, stored, asked, body, applied)

        return self.changing_existing(address, change, expected)

    def changing_existing(
        self,
        address: Address,
        change: Callable[[Place, Stored], T],
        expected: str | None,
        *others: Address,
    ) -> T:
        """Change an existing note.

        Args:
            address: The note.
            change: Makes the change; receives the note's place and its content.
            expected: Version that the note must have.
            others: Further addresses that the change touches.

        Raises:
            Refused: ``read_only_home``, ``not_found``, ``changed`` and the codes of ``change``.
        """
        for touched in (address, *others):
            check_writable(touched)
        shown = str(address)

        def attempt() -> T:
            passed_on = self._passed_on(address)
            with self.files.writing(address.segments, shown, make=passed_on is not None) as place:
                if place.is_free and passed_on is not None:
                    stored = passed_on
                else:
                    stored = existing(address, place)
                expect(expected, stored, shown)
                return change(place, stored)

        return self.changing(shown, attempt, address, *others)

    def changing(self, shown: str, attempt: Callable[[], T], *addresses: Address) -> T:
        """Make a change under the locks of its homes, and retry when somebody interferes."""
        folders = [address.home.folder for address in addresses]
        with self.files.refusing(shown), self.files.locked(*folders):
            for pause in self.files.pauses:
                try:
                    return attempt()
                except ChangedError:
                    time.sleep(pause)
        raise Refused(
            "changed",
            f"{quote(shown)} is being saved by somebody else again and again; nothing was "
            "changed here, read it and try again",
        )

    def _passed_on(self, address: Address) -> Stored | None:
        """Return the note that a fork only has from an ancestor, with the fork's own address.

        Raises:
            Refused: ``not_found``, in a fork, and the codes of ``read``.
        """
        if address.home.kind != "session" or not self.homes.inherited:
            return None
        stored = self.read(address)
        return None if stored.address.home.owner is None else replace(stored, address=address)

    def put(self, place: Place, data: bytes, mtime_ns: int) -> None:
        """Write a changed note: replace its file, or create one if the note was inherited.

        Raises:
            ChangedError: Somebody saved the note meanwhile.
        """
        if place.is_free:
            place.refuse_collision()
            place.create(data, mtime_ns=mtime_ns)
        else:
            place.replace(data, mtime_ns=mtime_ns)

    def encoded(self, note: Note, address: Address, asked: Keys, implied: Keys, body: str) -> bytes:
        """Return the content of a changed note's file.

        Raises:
            Refused: ``invalid_frontmatter``, ``too_large``.
        """
        with self._naming(address):
            text = changes.text_of(note, asked, implied, body)
        return encode(text, quote(str(address)))

    def _put_write(
        self, address: Address, content: str, origin: Origin, expected: str | None
    ) -> Written:
        with self.files.writing(address.segments, str(address), make=True) as place:
            place.refuse_other_kind()
            stored: Stored | None
            if not place.is_free:
                stored = load(address, place)
            elif (stored := self.inherited(address)) is not None:
                stored = replace(stored, address=address)
            expect(expected, stored, str(address))
            if stored is None:
                return self._create(place, address, content, origin)
            return self._overwrite(place, stored, content, origin)

    def _create(self, place: Place, address: Address, content: str, origin: Origin) -> Written:
        check_new(address)
        place.refuse_collision()
        now = clock.now_ms()
        time = clock.format_ms(now)
        keys: Keys = {"origin": origin, "createdAt": time, "updatedAt": time}
        if address.home.kind == "session" and self.homes.project_key is not None:
            keys["project"] = self.homes.project_key
        note, body = self._merged(Note(None, "", None), address, content)
        data = self.encoded(note, address, keys, {}, body)
        place.create(data, mtime_ns=_ns(now))
        return Written("created", version_of(data))

    def _overwrite(self, place: Place, stored: Stored, content: str, origin: Origin) -> Written:
        now = clock.now_ms()
        note, body = self._merged(stored.note, stored.address, content)
        restoring = changes.asked_for(stored.note, None, archived=False)
        implied = {"origin": origin, **changes.times(stored.note, stored.created, now)}
        data = self.encoded(note, stored.address, restoring, implied, body)
        self.put(place, data, _ns(now))
        return Written("restored" if restoring else "overwrote", version_of(data))

    def _put_update(
        self, place: Place, stored: Stored, asked: Keys, body: str, applied: int
    ) -> Updated:
        before = stored.note.body
        if body == before and not asked:
            return Updated(stored.version, applied, "none", before, body)
        now = clock.now_ms()
        # Archiving alone does not count as an update, so it also keeps the file's modification
        # time.
        quiet = body == before and not asked.keys() - set(ARCHIVED)
        implied = {} if quiet else changes.times(stored.note, stored.created, now)
        data = self.encoded(stored.note, stored.address, asked, implied, body)
        mtime_ns = stored.mtime_ns if quiet else _ns(now)
        self.put(place, data, mtime_ns)
        change: Change = "metadata" if body == before else "file" if asked else "body"
        return Updated(version_of(data), applied, change, before, body)

    def _merged(self, note: Note, address: Address, content: str) -> tuple[Note, str]:
        with self._naming(address, "write content without frontmatter, or "):
            return changes.merged(note, content, session=address.home.kind == "session")

    @contextmanager
    def _naming(self, address: Address, otherwise: str = "") -> Iterator[None]:
        try:
            yield
        except UnreadableMetadata as error:
            file = self.files.shown(address.segments)
            raise Refused(
                "invalid_frontmatter",
                f"{quote(str(address))}: the frontmatter in {file} cannot be changed: {error}; "
                f"nothing was changed, {otherwise}repair the block in the file by hand",
            ) from None


def _ns(instant: int) -> int:
    return instant * clock.MILLISECOND_NS
