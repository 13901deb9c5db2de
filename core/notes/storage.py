"""What the notes need from the place where they are kept: a folder, or a database.

The reader, the store and the operations work with these interfaces alone, so that addresses,
frontmatter, versions, edits, receipts and refusals are the same code for every kind of home.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, Self, TypeAlias

from hindnote.core.places.database_home import require_client

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from hindnote.core.notes.address import Address, Home
    from hindnote.core.notes.catalogue import Contents
    from hindnote.core.notes.facts import Facts
    from hindnote.core.notes.rows import Kept
    from hindnote.core.plugins.models import Identity
    from hindnote.core.text.frontmatter import Json

Segments: TypeAlias = tuple[str, ...]
"""A path under the notes home."""


class Saved(Protocol):
    """One state of a note, as it was read."""

    @property
    def data(self) -> bytes | None:
        """The note's bytes; None when they are too many to be compared."""

    @property
    def mtime_ns(self) -> int:
        """Time of the last change, in nanoseconds since the epoch."""

    @property
    def born_ms(self) -> int | None:
        """Time of creation, in milliseconds since the epoch; None when unknown."""


class Place(Protocol):
    """The place of a note, which need not exist.

    It remembers what was last read there. A change is made only if the note still is as it was
    read; otherwise it raises ``ChangedError``, and nothing is changed.
    """

    @property
    def shown(self) -> str:
        """The address, for messages."""

    @property
    def name(self) -> str:
        """The last segment of the path, as it is spelled there."""

    @property
    def is_free(self) -> bool:
        """Whether nothing has this name."""

    def __enter__(self) -> Self:
        """Return the place itself."""

    def __exit__(self, *_: object) -> None:
        """Let go of the place."""

    def siblings(self) -> list[str]:
        """Return the names beside it, its own included."""

    def refuse_collision(self, spared: frozenset[str] = frozenset()) -> None:
        """Refuse a new name that another system would confuse with a sibling's name.

        Raises:
            Refused: ``address_collision``, naming the sibling.
        """

    def refuse_other_kind(self) -> None:
        """Refuse a name that belongs to something other than a note.

        Raises:
            Refused: ``address_collision``.
        """

    def read(self, limit: int) -> Saved:
        """Return the note, and remember what was read.

        Raises:
            Refused: ``too_large``, or ``not_found`` when it is no note.
        """

    def create(self, data: bytes, *, mtime_ns: int) -> None:
        """Create the note; nothing may have its name.

        Raises:
            ChangedError: Somebody created one meanwhile.
        """

    def replace(self, data: bytes, *, mtime_ns: int) -> None:
        """Replace the note.

        Raises:
            ChangedError: It changed since it was read.
        """

    def move_to(self, to: Any, data: bytes, *, spared: frozenset[str], left: bytes | None) -> bool:
        """Give the note another name and these bytes; its time stays.

        Args:
            to: The place of the new name, in the same notes home and so of the same class.
            data: The bytes that it has there.
            spared: Names that are not a collision, since they are being renamed.
            left: Bytes of a note that takes the old name; None: nothing takes it.

        Returns:
            False when the new name is taken, and nothing was changed.

        Raises:
            ChangedError: The note changed since it was read.
            Refused: ``address_collision``.
        """

    def copy_to(
        self,
        to: Any,
        data: bytes,
        *,
        mtime_ns: int,
        spared: frozenset[str],
        left: bytes | None,
    ) -> bool:
        """Create a note under another name, for a name that nothing has here.

        Arguments, result and exceptions are those of ``move_to``.
        """


class Bodies(Protocol):
    """Reads the bodies of listed notes; a context manager."""

    def __enter__(self) -> Self:
        """Return the reader itself."""

    def __exit__(self, *_: object) -> None:
        """Let go of what was read."""

    def body(self, facts: Facts) -> str:
        """Return a note's body.

        Raises:
            Refused: ``not_found``, ``not_text``, ``too_large``, ``outside_home``, ``io_error``.
        """


class Storage(Protocol):
    """A notes home."""

    @property
    def pauses(self) -> Iterable[float]:
        """Pauses in seconds after each attempt that failed because somebody else saved the note."""

    def shown(self, segments: Segments) -> str:
        """Return where a person finds a note."""

    # -- one note --------------------------------------------------------------------

    def reading(self, segments: Segments, shown: str) -> Place:
        """Return the place of a note to read.

        Raises:
            Refused: ``outside_home``, ``not_found``, ``io_error``.
        """

    def writing(
        self,
        segments: Segments,
        shown: str,
        *,
        make: bool = False,
        spared: frozenset[str] = frozenset(),
    ) -> Place:
        """Return the place of a note to write; the caller holds the lock of its home.

        Args:
            segments: Its path under the home.
            shown: The address, for messages.
            make: Create missing folders, the home included.
            spared: Names that are not a collision for a folder that is created.

        Raises:
            OSError: A folder does not exist or cannot be opened.
            Refused: ``outside_home``, ``address_collision``.
        """

    def prune(self, segments: Segments, keep: int) -> None:
        """Remove the empty folders at the end of a path, down to ``keep`` segments."""

    def holds_one(self, segments: Segments, inner: Segments) -> bool:
        """Return whether each folder of ``inner``, below ``segments``, contains a single name."""

    def refusing(self, shown: str) -> AbstractContextManager[None]:
        """Translate errors of this kind of home about a note into refusals."""

    def locked(self, *folders: Segments) -> AbstractContextManager[None]:
        """Keep other writers out of some homes, as far as this kind of home needs it.

        Raises:
            Refused: ``locked``, ``io_error``, ``outside_home``.
        """

    # -- many notes --------------------------------------------------------------------

    def contents(self, homes: Iterable[Home]) -> Contents:
        """Return the notes in some homes; names the homes that cannot be opened."""

    def slugs(self, kind: Literal["agents", "models"], unavailable: list[str]) -> list[str]:
        """Return the agents or models that have a home; names the kind that cannot be listed."""

    def bodies(self, notes: Sequence[Facts], read: Callable[[Address], str]) -> Bodies:
        """Return a reader of many bodies.

        Args:
            notes: The notes that will be read, in this order.
            read: Reads the body of a note that cannot be read quickly.
        """

    def every(self) -> Iterator[Segments]:
        """Yield the paths of all notes that the person can see, and of what else lies there."""

    def notebook(self, host: str, session_id: str) -> Segments:
        """Return the path of a session's notebook."""

    # -- earlier versions ----------------------------------------------------------------

    def kept(self, segments: Segments, most: int | None = None) -> list[Kept] | None:
        """Return the changes of a note, newest first; None when this kind of home keeps none."""

    def kept_bytes(self, segments: Segments, version: str) -> bytes | None:
        """Return the bytes that a note had in a version; None when that is not kept."""

    # -- read counts -------------------------------------------------------------------

    def count_read(self, segments: Segments, values: Mapping[str, Json]) -> None:
        """Count one read of a note; its metadata may hold the count to start from."""

    def move_count(self, source: Segments, target: Segments) -> None:
        """Keep a note's count when it is renamed."""

    def counts(self) -> Mapping[str, tuple[int, int]]:
        """Return by path the number of reads of each note, and the last one's time in ms."""

    def put_count(self, segments: Segments, count: int, last_ms: int) -> None:
        """Set a note's count, as it was in another home."""


def storage(identity: Identity) -> Storage:
    """Return the notes home of an identity.

    Raises:
        Refused: ``io_error``; the database cannot be used.
    """
    if isinstance(identity.home, Path):
        from hindnote.core.notes.folder import NotesFolder

        return NotesFolder(identity.home)
    require_client()
    from hindnote.core.notes.database import NotesDatabase

    return NotesDatabase(identity.home, identity)
