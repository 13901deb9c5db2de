"""A notes home that is a database: the same methods as those of a folder.

Two writers are told apart by the database itself: a change is carried out only if the note still
has the change that was read. So nothing is locked between statements.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import TYPE_CHECKING, Literal

from hindnote.core.database.connection import ConflictError, database
from hindnote.core.errors import Refused
from hindnote.core.notes import clock, statements
from hindnote.core.notes.catalogue import Contents, inherited_only
from hindnote.core.notes.facts import Facts
from hindnote.core.notes.note import READ_LIMIT
from hindnote.core.notes.row import RowPlace, fetched
from hindnote.core.notes.row_bodies import RowBodies
from hindnote.core.notes.rows import Kept, Writer
from hindnote.core.notes.statements import key_of
from hindnote.core.text.messages import quote
from hindnote.core.text.slug import encode_session_id, is_slug

if TYPE_CHECKING:
    from hindnote.core.notes.address import Address, Home
    from hindnote.core.places.database_home import DatabaseHome
    from hindnote.core.plugins.models import Identity
    from hindnote.core.text.frontmatter import Json

Segments = tuple[str, ...]

PATIENCE_SECONDS = 5.0
"""How long a change is tried again while others change the same note."""

_MOST = 2**53


class NotesDatabase:
    """A notes home in a database.

    Args:
        home: The database.
        identity: Who changes notes, for the record of changes.
    """

    def __init__(self, home: DatabaseHome, identity: Identity) -> None:
        self._database = database(home.url)
        self._writer = Writer(
            self._database,
            {
                "machine": os.uname().nodename,
                "host": identity.host,
                "session": identity.session_id,
                "agent": identity.agent,
                "model": identity.model,
            },
        )

    @property
    def pauses(self) -> Iterator[float]:
        """Pauses in seconds after each attempt that failed because somebody else saved the note."""
        end = time.monotonic() + PATIENCE_SECONDS
        longest = 0.002
        while time.monotonic() < end:
            # Random, so that two writers that met do not meet again.
            yield random.uniform(0, longest)
            longest = min(longest * 1.5, 0.1)

    def shown(self, segments: Segments) -> str:
        """Return where a person finds a note: the database and the path in it."""
        return f"the database {self._database.name}, {quote('/'.join(segments))}"

    # -- one note --------------------------------------------------------------------

    def reading(self, segments: Segments, shown: str) -> RowPlace:
        """Return the place of a note to read.

        Raises:
            Refused: ``io_error``.
        """
        return fetched(self._writer, key_of(segments), shown, READ_LIMIT)

    def writing(
        self,
        segments: Segments,
        shown: str,
        *,
        make: bool = False,
        spared: frozenset[str] = frozenset(),
    ) -> RowPlace:
        """Return the place of a note to write.

        Args:
            segments: Its path under the home.
            shown: The address, for messages.
            make: Not needed: folders are made together with the note.
            spared: Not needed: the database knows which names belong to the note.

        Raises:
            Refused: ``io_error``.
        """
        return self.reading(segments, shown)

    def prune(self, segments: Segments, keep: int) -> None:
        """Do nothing: a folder without notes is in nobody's way."""

    def holds_one(self, segments: Segments, inner: Segments) -> bool:
        """Return False, since the database itself decides which names a rename may respell."""
        return False

    def refusing(self, shown: str) -> AbstractContextManager[None]:
        """Return a context that does nothing: errors of the database are refusals already."""
        return nullcontext()

    def locked(self, *folders: Segments) -> AbstractContextManager[None]:
        """Return a context that does nothing: each change compares what was read by itself."""
        return nullcontext()

    # -- many notes --------------------------------------------------------------------

    def contents(self, homes: Iterable[Home]) -> Contents:
        """Return the notes in some homes.

        Raises:
            Refused: ``io_error``.
        """
        wanted = {"/".join(home.folder): home for home in homes}
        values = {
            "team": [name for name, home in wanted.items() if home.kind == "project"],
            "own": [name for name, home in wanted.items() if home.kind != "project"],
        }
        found: dict[str, list[Facts]] = {name: [] for name in wanted}
        for row in self._database.read(statements.LIST, values):
            name, path, _, updated, created, chars, archived, problem = row
            home = wanted[name]
            # The address is put together here, as for a folder.
            shown = created if home.owner is not None else None
            found[name].append(
                Facts(home, path, home.prefix + path, updated, chars, shown, archived, problem)
            )
        return _joined(wanted, found)

    def slugs(self, kind: Literal["agents", "models"], unavailable: list[str]) -> list[str]:
        """Return the agents or models that have a home.

        Raises:
            Refused: ``io_error``.
        """
        rows = self._database.read(statements.SLUGS, {"kind": kind})
        return sorted(slug for (home,) in rows if is_slug(slug := home.partition("/")[2]))

    def bodies(self, notes: Sequence[Facts], read: Callable[[Address], str]) -> RowBodies:
        """Return a reader of many bodies, which reads several of them at once.

        Args:
            notes: The notes that will be read, in this order.
            read: Not needed: all notes are read in one way.
        """
        return RowBodies(self._database, notes)

    def every(self) -> Iterator[Segments]:
        """Yield the paths of all notes of the team and of the person.

        Raises:
            Refused: ``io_error``.
        """
        for shared in (True, False):
            last = ("", "")
            while rows := self._database.read(
                statements.EVERY, {"shared": shared, "home": last[0], "path": last[1]}
            ):
                for home, path in rows:
                    yield (*home.split("/"), *path.split("/"))
                last = rows[-1]

    def notebook(self, host: str, session_id: str) -> Segments:
        """Return the path of a session's notebook; the database tells letter case apart."""
        return (host, "session", encode_session_id(session_id))

    # -- earlier versions ----------------------------------------------------------------

    def kept(self, segments: Segments, most: int | None = None) -> list[Kept]:
        """Return the changes of a note, newest first.

        Raises:
            Refused: ``io_error``.
        """
        key = key_of(segments)
        rows = self._database.read(
            statements.kept(key), {"home": key.home, "path": key.path, "most": most}
        )
        return [Kept(*row) for row in rows]

    def kept_bytes(self, segments: Segments, version: str) -> bytes | None:
        """Return the bytes that a note had in a version; None when that is not kept.

        Raises:
            Refused: ``io_error``.
        """
        key = key_of(segments)
        given = {"home": key.home, "path": key.path, "version": version}
        rows = self._database.read(statements.kept_bytes(key), given)
        return rows[0][0] if rows else None

    # -- read counts -------------------------------------------------------------------

    def count_read(self, segments: Segments, values: Mapping[str, Json]) -> None:
        """Count one read of a note; its metadata may hold the count to start from.

        A role that may only read counts nothing.
        """
        key, seed = key_of(segments), values.get("accessCount")
        known = isinstance(seed, int) and not isinstance(seed, bool) and 0 <= seed < _MOST
        given = {"home": key.home, "path": key.path, "now": clock.now_ms()}
        with suppress(Refused, ConflictError):
            self._database.change(
                statements.count_read(key), given | {"seed": seed if known else 0}, list
            )

    def move_count(self, source: Segments, target: Segments) -> None:
        """Keep a note's count when it is renamed."""
        old, new = key_of(source), key_of(target)
        given = {"from_home": old.home, "from_path": old.path, "home": new.home, "path": new.path}
        with suppress(Refused, ConflictError):
            self._database.change(statements.move_count(old, new), given, list)

    def counts(self) -> dict[str, tuple[int, int]]:
        """Return by path the number of reads of each note, and the last one's time in ms.

        Raises:
            Refused: ``io_error``.
        """
        rows = self._database.read(statements.COUNTS)
        return {path: (count, last) for path, count, last in rows}

    def put_count(self, segments: Segments, count: int, last_ms: int) -> None:
        """Set a note's count, as it was in another home.

        Raises:
            Refused: ``io_error``.
        """
        key = key_of(segments)
        given = {"home": key.home, "path": key.path, "count": count, "last": last_ms}
        self._database.change(statements.put_count(key), given, lambda: None)


def _joined(homes: Mapping[str, Home], found: Mapping[str, list[Facts]]) -> Contents:
    """Return the notes of all homes, without those that a fork hides from itself."""
    contents = Contents()
    for name, home in homes.items():
        notes = found[name]
        if home.owner is not None:
            notes = inherited_only(home, contents.notes, notes)
        contents.notes.extend(notes)
    return contents
