"""The place of a note in a database: everything that happens to one row of its table."""

from __future__ import annotations

import uuid
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self

from msgspec import Struct

from hindnote.core.database.connection import ConflictError
from hindnote.core.errors import Refused
from hindnote.core.fs.names import same_elsewhere
from hindnote.core.fs.saving import ChangedError
from hindnote.core.notes import clock, statements
from hindnote.core.notes.rows import Row, Writer, described, settled
from hindnote.core.text.messages import quote

if TYPE_CHECKING:
    from hindnote.core.notes.statements import Key


class RowPlace(Struct):
    """The place of a note in a database, which need not exist."""

    writer: Writer
    key: Key
    shown: str
    """The address, for messages."""

    row: Row | None
    """The note as it was read; None when it does not exist."""

    def __enter__(self) -> Self:
        """Return the place itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Let go of the place, for which nothing has to be done."""

    @property
    def name(self) -> str:
        """The last segment of the path."""
        return self.key.path.rpartition("/")[2]

    @property
    def is_free(self) -> bool:
        """Whether no note has this name."""
        return self.row is None

    def siblings(self) -> list[str]:
        """Return the names in the folder; its own only if it exists."""
        folder = self.key.path[: -len(self.name)]
        values = {"home": self.key.home, "folder": folder}
        return [name for (name,) in self.writer.database.read(statements.names(self.key), values)]

    def refuse_collision(self, spared: frozenset[str] = frozenset()) -> None:
        """Do nothing: the database refuses a name that collides when the note is created."""

    def refuse_other_kind(self) -> None:
        """Do nothing: the database refuses the name of a folder when the note is created."""

    def read(self, limit: int) -> Row:
        """Return the note.

        Raises:
            Refused: ``not_found``, ``too_large``.
        """
        if self.row is None:
            raise Refused("not_found", f"there is no note {quote(self.shown)}")
        if self.row.data is None or self.row.size > limit:
            raise Refused(
                "too_large",
                f"{quote(self.shown)} has {self.row.size:,} bytes, more than the {limit:,} that "
                "are read",
            )
        return self.row

    def create(self, data: bytes, *, mtime_ns: int) -> None:
        """Create the note; nothing may have its name.

        Raises:
            ChangedError: Somebody created one meanwhile.
            Refused: ``address_collision``, ``read_only_home``, ``io_error``.
        """
        values = self._values(data, mtime_ns)
        if not self._change(statements.create(self.key), values):
            self._refuse_what_is_in_the_way(values)

    def replace(self, data: bytes, *, mtime_ns: int) -> None:
        """Replace the note, if it is unchanged since it was read.

        Raises:
            ChangedError: It changed since it was read.
            Refused: ``read_only_home``, ``io_error``.
        """
        assert self.row is not None, "a note is read before it is changed"
        values = self._values(data, mtime_ns) | {"before": self.row.change}
        if not self._change(statements.replace(self.key), values):
            raise ChangedError

    def copy_to(
        self,
        to: RowPlace,
        data: bytes,
        *,
        mtime_ns: int,
        spared: frozenset[str],
        left: bytes | None,
    ) -> bool:
        """Create a note under another name, for a name that no note has here.

        Args:
            to: The place of the new name.
            data: The bytes that it has there.
            mtime_ns: The time of its last change.
            spared: Not needed: the database knows which names belong to the note.
            left: Bytes of a note that takes the old name; None: nothing takes it.

        Returns:
            False when the new name is taken; then nothing was changed.

        Raises:
            ChangedError: Somebody created the note meanwhile.
            Refused: ``address_collision``, ``read_only_home``, ``io_error``.
        """
        if not to.is_free:
            return False
        values = to._values(data, mtime_ns) | self._left(left, mtime_ns)
        query = statements.create(to.key, left=None if left is None else self.key)
        if not self._change(query, values):
            to._refuse_what_is_in_the_way(values)
        return True

    def move_to(
        self, to: RowPlace, data: bytes, *, spared: frozenset[str], left: bytes | None
    ) -> bool:
        """Give the note another name and these bytes, if it is unchanged since it was read.

        Arguments, result and exceptions are those of ``copy_to``.
        """
        assert self.row is not None, "a note is read before it is moved"
        if not to.is_free:
            return False
        values = to._values(data, self.row.mtime_ns) | self._left(left, self.row.mtime_ns)
        values |= {"before": self.row.change}
        values |= {"from_home": self.key.home, "from_path": self.key.path}
        query = statements.move(self.key, to.key, left=left is not None)
        if not self._change(query, values):
            to._refuse_what_is_in_the_way(values, moved=self)
        return True

    # -- statements ----------------------------------------------------------------------

    def _values(self, data: bytes, mtime_ns: int) -> dict[str, Any]:
        """Return the values of a statement that gives the note these bytes."""
        parts = self.key.path.split("/")
        folders = ["/".join(parts[:end]) for end in range(1, len(parts))]
        return {
            **self.writer.who,
            **described(self.key, data, mtime_ns),
            "id": uuid.uuid4(),
            "born_ms": clock.now_ms(),
            "folders": folders,
            "folders_folded": [same_elsewhere(folder) for folder in folders],
        }

    def _left(self, data: bytes | None, mtime_ns: int) -> dict[str, Any]:
        if data is None:
            return {}
        values = described(self.key, data, mtime_ns) | {"id": uuid.uuid4()}
        return {f"left_{name}": value for name, value in values.items()}

    def _change(self, query: str, values: dict[str, Any]) -> bool:
        """Carry out a change; return whether anything was changed.

        After a lost connection it is looked up by its id.

        Raises:
            ChangedError: It was not carried out and never will be, and may be tried again.
            Refused: ``read_only_home``, ``io_error``.
        """
        writer = self.writer
        try:
            rows = writer.database.change(query, values, lambda: settled(writer, values["id"]))
        except ConflictError:
            return False
        if rows == [("void",)]:
            raise ChangedError
        return bool(rows)

    def _refuse_what_is_in_the_way(
        self, values: dict[str, Any], moved: RowPlace | None = None
    ) -> None:
        """Say why a note could not get its name.

        Raises:
            ChangedError: Nothing is in the way any more, or it was a folder without notes.
            Refused: ``address_collision``.
        """
        database = self.writer.database
        own = None if moved is None or moved.key.home != self.key.home else moved.key.path
        found = database.read(statements.in_the_way(self.key), values)
        for path, is_folder in found:
            if is_folder and path in values["folders"]:
                continue
            if path == own and same_elsewhere(path) == values["folded"]:
                # Its own name in other letters; but no note can move into a folder of its name.
                continue
            if path == self.key.path and not is_folder:
                raise ChangedError
            if not is_folder or self._holds_notes(path, own):
                raise self._collision(path, is_folder=is_folder)
        if found and moved is None:
            with suppress(ConflictError):
                database.change(statements.make_room(self.key) + "SELECT 1", values, list)
        raise ChangedError

    def _holds_notes(self, folder: str, moved: str | None) -> bool:
        """Return whether other notes than the one that is moved are in a folder."""
        query = (
            f"SELECT EXISTS (SELECT FROM hindnote.notes WHERE owner = {self.key.owner} AND "
            "home = %s AND folded > %s AND folded < %s AND path <> %s AND data IS NOT NULL)"
        )
        folded = same_elsewhere(folder)
        values = (self.key.home, f"{folded}/", f"{folded}0", moved or "")
        return bool(self.writer.database.read(query, values)[0][0])

    def _collision(self, path: str, *, is_folder: bool) -> Refused:
        name = path.rpartition("/")[2]
        mine = self.key.path.split("/")[path.count("/")]
        if name != mine:
            return Refused(
                "address_collision",
                f"{quote(self.shown)}: {quote(name)} exists beside {quote(mine)} and differs by "
                "letter case or Unicode form alone; use its spelling, or another name",
            )
        if is_folder:
            return Refused(
                "address_collision", f"{quote(self.shown)} is a folder; choose another name"
            )
        return Refused(
            "address_collision",
            f"{quote(self.shown)}: {quote(name)} is a note, so no folder can have that name; "
            "choose another path",
        )


def fetched(writer: Writer, key: Key, shown: str, limit: int) -> RowPlace:
    """Return the place of a note, with the note that is there.

    Raises:
        Refused: ``io_error``.
    """
    values = {"home": key.home, "path": key.path, "limit": limit}
    rows = writer.database.read(statements.read(key), values)
    return RowPlace(writer, key, shown, Row(*rows[0]) if rows else None)
