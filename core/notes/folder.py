"""A notes home that is a folder: all that the notes need from the place where they are kept.

The reader, the store and the operations reach notes through this class and through the places
that it opens, and touch no file themselves. ``storage`` describes the methods.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from hindnote.core.errors import Refused
from hindnote.core.notes.files import refusing
from hindnote.core.notes.notebooks import notebook_folder
from hindnote.core.notes.tree import Tree

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from hindnote.core.notes.address import Address, Home
    from hindnote.core.notes.bodies import Bodies
    from hindnote.core.notes.catalogue import Contents
    from hindnote.core.notes.facts import Facts
    from hindnote.core.notes.place import NotePlace
    from hindnote.core.text.frontmatter import Json

Segments = tuple[str, ...]
"""A path under the notes home."""

# Most calls need one of these methods: what a method needs alone is imported in it.


class NotesFolder:
    """A notes home in a folder.

    Args:
        folder: The notes home, absolute. It need not exist.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._tree = Tree(folder)

    @property
    def pauses(self) -> tuple[float, ...]:
        """Pauses in seconds after each attempt that failed because somebody else saved the note."""
        # They give a program that has truncated the file time to write it.
        return (0.001, 0.01, 0.02, 0.05, 0.0)

    def shown(self, segments: Segments) -> str:
        """Return where a person finds a note: the path of its file."""
        return str(self._folder.joinpath(*segments))

    # -- one note --------------------------------------------------------------------

    def reading(self, segments: Segments, shown: str) -> NotePlace:
        """Return the place of a note to read, with links inside the home resolved.

        Raises:
            Refused: ``outside_home``, ``not_found``, ``io_error``.
        """
        return self._tree.reading(segments, shown)

    def writing(
        self,
        segments: Segments,
        shown: str,
        *,
        make: bool = False,
        spared: frozenset[str] = frozenset(),
    ) -> NotePlace:
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
        return self._tree.writing(segments, shown, make=make, spared=spared)

    def prune(self, segments: Segments, keep: int) -> None:
        """Remove the empty folders at the end of a path, down to ``keep`` segments."""
        self._tree.prune(segments, keep=keep)

    def holds_one(self, segments: Segments, inner: Segments) -> bool:
        """Return whether each folder of ``inner``, below ``segments``, contains a single name."""
        return self._tree.holds_one(segments, inner)

    def refusing(self, shown: str) -> AbstractContextManager[None]:
        """Translate errors of this kind of home about a note into refusals."""
        return refusing(shown)

    def locked(self, *folders: Segments) -> AbstractContextManager[None]:
        """Keep other writers out of some homes.

        Raises:
            Refused: ``locked``, ``io_error``, ``outside_home``.
        """
        from hindnote.core.notes.locks import locked

        return locked(self._folder, *folders)

    # -- many notes --------------------------------------------------------------------

    def contents(self, homes: Iterable[Home]) -> Contents:
        """Return the notes in some homes; names the homes that cannot be opened."""
        from hindnote.core.notes.catalogue import contents

        return contents(self._tree, homes)

    def slugs(self, kind: Literal["agents", "models"], unavailable: list[str]) -> list[str]:
        """Return the agents or models that have a home; names the kind that cannot be listed."""
        from hindnote.core.notes.catalogue import slugs

        return slugs(self._tree, kind, unavailable)

    def bodies(self, notes: Sequence[Facts], read: Callable[[Address], str]) -> Bodies:
        """Return a reader of many bodies.

        Args:
            notes: The notes that will be read; a folder does not need to know.
            read: Reads the body of a note that cannot be read quickly.
        """
        from hindnote.core.notes.bodies import Bodies

        return Bodies(self._tree, read)

    def every(self) -> Iterator[Segments]:
        """Yield the paths of all notes and of what else lies there; linked folders are not entered.

        Raises:
            Refused: ``io_error``.
        """
        from hindnote.core.notes.catalogue import every

        return every(self._folder)

    def notebook(self, host: str, session_id: str) -> Segments:
        """Return the path of a session's notebook."""
        return notebook_folder(self._tree, host, session_id)

    # -- earlier versions ----------------------------------------------------------------

    def kept(self, segments: Segments, most: int | None = None) -> None:
        """Return None: a folder keeps no earlier versions."""

    def kept_bytes(self, segments: Segments, version: str) -> None:
        """Return None: a folder keeps no earlier versions."""

    # -- read counts -------------------------------------------------------------------

    def count_read(self, segments: Segments, values: Mapping[str, Json]) -> None:
        """Count one read of a note; its metadata may hold the count to start from."""
        from hindnote.core.notes import read_counts

        read_counts.count(self._folder, segments, values)

    def move_count(self, source: Segments, target: Segments) -> None:
        """Keep a note's count when it is renamed."""
        from hindnote.core.notes import read_counts

        read_counts.move(self._folder, source, target)

    def counts(self) -> Mapping[str, tuple[int, int]]:
        """Return by path the number of reads of each note, and the last one's time in ms.

        Raises:
            Refused: ``io_error``.
        """
        from hindnote.core.notes import read_counts

        try:
            return read_counts.counts(self._folder)
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise Refused(
                "io_error", f"the read counts cannot be read: {error.strerror}"
            ) from error

    def put_count(self, segments: Segments, count: int, last_ms: int) -> None:
        """Set a note's count, as it was in another home."""
        from hindnote.core.notes import read_counts

        read_counts.put(self._folder, segments, count, last_ms)
