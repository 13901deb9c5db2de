"""The place of a note in a folder: everything that happens to one file of the notes home.

Nothing here follows a link. A change happens only if the file is as it was read, so that it
never overwrites what somebody else saved meanwhile.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from typing import Self

from msgspec import Struct, field

from hindnote.core.errors import Refused
from hindnote.core.fs import atomic, saving
from hindnote.core.fs.handles import ENTER, READ, look, make_folder, names_in
from hindnote.core.fs.names import same_elsewhere
from hindnote.core.fs.saving import ChangedError, Version
from hindnote.core.text.messages import quote


class NotePlace(Struct):
    """The place of a note, which need not exist: an open folder, and a name in it.

    Use it as a context manager: leaving it closes the folder, and after an error it removes the
    empty folders that were created for the note.
    """

    folder: int
    """Handle of the folder."""

    shown: str
    """The address, for messages."""

    name: str = ""
    """The name as it is spelled on disk."""

    status: os.stat_result | None = None
    """Status of that name; None when it does not exist."""

    _made: list[tuple[int, str]] = field(default_factory=list)

    def __enter__(self) -> Self:
        """Return the place itself."""
        return self

    def __exit__(self, error: object, *_: object) -> None:
        """Close all handles."""
        for parent, name in reversed(self._made):
            if error is not None:
                with suppress(OSError):
                    os.rmdir(name, dir_fd=parent)
            os.close(parent)
        self._made.clear()
        os.close(self.folder)

    def enter(self, name: str) -> None:
        """Go into a subfolder, which must not be a link."""
        inner = os.open(name, ENTER, dir_fd=self.folder)
        os.close(self.folder)
        self.folder = inner

    def make(self, spared: frozenset[str]) -> None:
        """Create a folder of this name, unless it exists by now."""
        self.refuse_collision(spared)
        if make_folder(self.folder, self.name):
            self._made.append((os.dup(self.folder), self.name))

    # -- the name ------------------------------------------------------------------

    @property
    def is_free(self) -> bool:
        """Whether nothing has this name."""
        return self.status is None

    def siblings(self) -> list[str]:
        """Return the names in the folder, as they are spelled there."""
        return names_in(self.folder)

    def refuse_collision(self, spared: frozenset[str] = frozenset()) -> None:
        """Refuse a new name that another file system would confuse with a sibling's name.

        Args:
            spared: Siblings to ignore, since they are being renamed.

        Raises:
            Refused: ``address_collision``, naming the sibling.
        """
        wanted = same_elsewhere(self.name)
        for each in self.siblings():
            if each != self.name and each not in spared and same_elsewhere(each) == wanted:
                raise Refused(
                    "address_collision",
                    f"{quote(self.shown)}: {quote(each)} exists beside {quote(self.name)} and "
                    "differs by letter case or Unicode form alone; use its spelling, or another "
                    "name",
                )

    def refuse_other_kind(self) -> None:
        """Refuse a name that belongs to a folder or to another kind of file.

        Raises:
            Refused: ``address_collision``.
        """
        if self.status is not None and not stat.S_ISREG(self.status.st_mode):
            kind = "a folder" if stat.S_ISDIR(self.status.st_mode) else "no regular file"
            raise Refused(
                "address_collision", f"{quote(self.shown)} is {kind} on disk; choose another name"
            )

    def is_same_file(self, version: Version) -> bool:
        """Return whether this name belongs to the file that a version was read from."""
        return self.status is not None and os.path.samestat(self.status, version.status)

    # -- the file ------------------------------------------------------------------

    def read(self, limit: int) -> Version:
        """Return the file's bytes and the matching status.

        Raises:
            Refused: ``too_large``, or ``not_found`` when it is not a regular file.
            OSError: It cannot be read.
        """
        if self.status is not None:
            self._refuse_irregular(self.status)
        with os.fdopen(os.open(self.name, READ, dir_fd=self.folder), "rb") as file:
            status = os.fstat(file.fileno())
            self._refuse_irregular(status)
            if status.st_size > limit:
                raise Refused(
                    "too_large",
                    f"{quote(self.shown)} has {status.st_size:,} bytes, more than the {limit:,} "
                    "that are read",
                )
            return Version(status, file.read(limit))

    def create(self, data: bytes, *, mtime_ns: int) -> None:
        """Create the file; nothing may have its name.

        Raises:
            ChangedError: Somebody created a file of that name meanwhile.
            OSError: It cannot be written.
        """
        try:
            atomic.create(self.folder, self.name, data, mtime_ns=mtime_ns)
        except FileExistsError:
            raise ChangedError from None

    def replace(self, data: bytes, before: Version, *, mtime_ns: int) -> None:
        """Replace the file, if it is unchanged since it was read.

        Raises:
            ChangedError: It changed since it was read.
            OSError: It cannot be written; the old file is unchanged.
        """
        saving.save(self.folder, self.name, data, before, mtime_ns=mtime_ns)

    def written(self, data: bytes) -> Version:
        """Return the version of a file that was just replaced by these bytes.

        Raises:
            ChangedError: Somebody removed it meanwhile.
        """
        status = look(self.folder, self.name)
        if status is None:
            raise ChangedError
        return Version(status, data)

    def remove(self, before: Version) -> None:
        """Remove the file, if it is unchanged since it was read.

        Raises:
            ChangedError: It changed since it was read.
            OSError: It cannot be removed.
        """
        saving.take_away(self.folder, self.name, before)

    def move_to(self, to: NotePlace, before: Version) -> None:
        """Give the file another name, which must be free, if it is unchanged since it was read.

        Raises:
            ChangedError: It changed since it was read, or the new name is taken.
            OSError: It cannot be renamed.
        """
        try:
            saving.move(self.folder, self.name, to.folder, to.name, before)
        except FileExistsError:
            raise ChangedError from None
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            self._copy_to(to, before)

    def _copy_to(self, to: NotePlace, before: Version) -> None:
        """Move the file to a folder on another disk."""
        status = before.status
        times = {"mode": status.st_mode, "mtime_ns": status.st_mtime_ns}
        try:
            atomic.create(to.folder, to.name, before.data or b"", **times)
        except FileExistsError:
            raise ChangedError from None
        try:
            saving.take_away(self.folder, self.name, before)
        except BaseException:
            os.unlink(to.name, dir_fd=to.folder)
            raise

    def respell(self, to: NotePlace, name: str) -> None:
        """Change the letter case of the file's name, where the file system ignores it."""
        os.replace(self.name, name, src_dir_fd=self.folder, dst_dir_fd=to.folder)

    def _refuse_irregular(self, status: os.stat_result) -> None:
        if not stat.S_ISREG(status.st_mode):
            raise Refused("not_found", f"{quote(self.shown)} is no regular file, so it is no note")
