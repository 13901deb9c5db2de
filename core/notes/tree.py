"""The notes home as a tree: reach a note through directory handles, safe against swapped links.

Every path is opened step by step from the home by ``dir_fd`` with ``O_NOFOLLOW``, so replacing a
folder with a link between a check and an open has no effect. A link is resolved here, and only if
its target is inside the home; a write never goes through a link.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hindnote.core.errors import Refused
from hindnote.core.fs import saving
from hindnote.core.fs.handles import ENTER, make_private, names_in, open_root
from hindnote.core.notes.files import link_refusal, lookup, refusing
from hindnote.core.notes.place import NotePlace
from hindnote.core.text.messages import quote

HOPS = 16
"""Maximum number of links on one path."""


class Tree:
    """The notes home on disk. It may be a link itself, but no path leads out of it.

    Args:
        home: The notes home, absolute. It need not exist.
    """

    def __init__(self, home: Path) -> None:
        self.home = home

    @contextmanager
    def folder(self, segments: tuple[str, ...], shown: str) -> Iterator[int]:
        """Open a folder for reading; the context is its handle.

        Raises:
            OSError: It does not exist or cannot be opened.
            Refused: ``outside_home``.
        """
        with self._walk(segments, shown, follow=True) as place:
            handle = os.open(place.name, ENTER, dir_fd=place.folder)
        try:
            yield handle
        finally:
            os.close(handle)

    def reading(self, segments: tuple[str, ...], shown: str) -> NotePlace:
        """Return the place of a note, with links inside the home resolved.

        Raises:
            Refused: ``outside_home``, ``not_found``, ``io_error``.
        """
        with refusing(shown):
            return self._walk(segments, shown, follow=True)

    def writing(
        self,
        segments: tuple[str, ...],
        shown: str,
        *,
        make: bool = False,
        spared: frozenset[str] = frozenset(),
    ) -> NotePlace:
        """Return the place of a note for writing; no part of the path may be a link.

        Cleans up after killed writers in its folder. The caller must have the lock.

        Args:
            segments: Path segments under the home.
            shown: The address, for messages.
            make: Create the folders that are missing, including the home.
            spared: Names that do not count as a collision with a created folder.

        Raises:
            OSError: A folder does not exist or cannot be opened.
            Refused: ``outside_home``, ``address_collision``.
        """
        if make:
            make_private(self.home)
        return self._walk(segments, shown, follow=False, recover=True, make=make, spared=spared)

    def prune(self, segments: tuple[str, ...], keep: int) -> None:
        """Remove the empty folders at the end of a path, down to ``keep`` segments."""
        for end in range(len(segments), keep, -1):
            try:
                with self._walk(segments[:end], "", follow=False) as place:
                    os.rmdir(place.name, dir_fd=place.folder)
            except (OSError, Refused):
                return

    def holds_one(self, segments: tuple[str, ...], inner: tuple[str, ...]) -> bool:
        """Return whether each folder of a path below ``segments`` contains a single name."""
        for end in range(1, len(inner) + 1):
            with self.folder((*segments, *inner[:end]), "") as handle:
                if len(names_in(handle)) != 1:
                    return False
        return True

    def _walk(
        self,
        segments: tuple[str, ...],
        shown: str,
        *,
        follow: bool,
        recover: bool = False,
        make: bool = False,
        spared: frozenset[str] = frozenset(),
    ) -> NotePlace:
        place = NotePlace(open_root(self.home), shown)
        try:
            self._descend(
                place, list(segments), follow=follow, recover=recover, make=make, spared=spared
            )
        except BaseException as error:
            place.__exit__(error)
            raise
        return place

    def _descend(
        self,
        place: NotePlace,
        pending: list[str],
        *,
        follow: bool,
        recover: bool,
        make: bool,
        spared: frozenset[str],
    ) -> None:
        passed: list[str] = []
        hops = 0
        while True:
            name = pending.pop(0)
            if recover and not pending:
                saving.recover(place.folder)
            place.asked = name
            place.name, place.status = lookup(place.folder, name)
            if place.status is not None and stat.S_ISLNK(place.status.st_mode):
                hops += 1
                if not follow or hops > HOPS:
                    raise link_refusal(place.shown, loop=hops > HOPS)
                pending = [*self._target([*passed, place.name], place.shown), *pending]
                passed = []
                self._restart(place)
                continue
            if not pending:
                return
            if place.status is None and make:
                place.make(spared)
            elif make and place.status is not None and not stat.S_ISDIR(place.status.st_mode):
                raise Refused(
                    "address_collision",
                    f"{quote(place.shown)}: {quote(place.name)} is a file, so no folder can have "
                    "that name; choose another path",
                )
            place.enter(place.name)
            passed.append(place.name)

    def _restart(self, place: NotePlace) -> None:
        home = open_root(self.home)
        os.close(place.folder)
        place.folder = home

    def _target(self, path: list[str], shown: str) -> list[str]:
        """Return the path segments of a link's target under the home.

        The returned path is opened again without following links, so later changes of the link do
        not matter.
        """
        home = Path(os.path.realpath(self.home))
        target = Path(os.path.realpath(home.joinpath(*path)))
        if home not in target.parents:
            raise Refused(
                "outside_home",
                f"{quote(shown)} leads through a symbolic link out of the notes home, and "
                "nothing outside it is read",
            )
        return list(target.relative_to(home).parts)
