"""Read many bodies from a database: many with one statement."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from hindnote.core.errors import Refused
from hindnote.core.notes import statements
from hindnote.core.notes.note import body_of, decode
from hindnote.core.text.messages import quote

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hindnote.core.database.connection import Database
    from hindnote.core.notes.facts import Facts

_BATCH_NOTES = 1_000
_BATCH_CHARS = 4_000_000
"""Maximum size of the bodies that one statement reads, except for a single larger one."""


class RowBodies:
    """Reads the bodies of listed notes, many with one statement; a context manager.

    Args:
        database: The database.
        notes: The notes that will be read, in this order.
    """

    def __init__(self, database: Database, notes: Sequence[Facts]) -> None:
        self._database = database
        self._notes = notes
        self._next = 0
        self._read: dict[tuple[str, str], bytes] = {}

    def __enter__(self) -> Self:
        """Return the reader itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Forget what was read."""
        self._read.clear()

    def body(self, facts: Facts) -> str:
        """Return a note's body.

        Raises:
            Refused: ``not_found``, ``not_text``, ``too_large``, ``io_error``.
        """
        if facts.problem == "too_large":
            raise Refused("too_large", f"{quote(facts.address)} is too large to be read")
        name = "/".join(facts.home.folder), facts.path
        if name not in self._read:
            self._fetch(facts)
        data = self._read.pop(name, None)
        if data is None:
            raise Refused("not_found", f"there is no note {quote(facts.address)} any more")
        try:
            return body_of(data.decode())
        except UnicodeDecodeError:
            return decode(data, quote(facts.address))

    def _fetch(self, first: Facts) -> None:
        """Read a note and those after it."""
        batch, chars = [first], first.chars
        while self._next < len(self._notes) and self._notes[self._next] is not first:
            self._next += 1
        for facts in self._notes[self._next + 1 : self._next + _BATCH_NOTES]:
            chars += facts.chars
            if chars > _BATCH_CHARS:
                break
            batch.append(facts)
        paths: dict[tuple[bool, str], list[str]] = {}
        for facts in batch:
            if facts.problem != "too_large":
                home = facts.home.kind == "project", "/".join(facts.home.folder)
                paths.setdefault(home, []).append(facts.path)
        values: dict[str, object] = {}
        for number, (home, names) in enumerate(paths.items()):
            values |= {f"home{number}": home[1], f"paths{number}": names}
        query = statements.bodies([shared for shared, _ in paths])
        rows = self._database.read(query, values)
        self._read = {(home, path): data for home, path, data in rows}
