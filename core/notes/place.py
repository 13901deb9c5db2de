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

    asked: str = ""
    """The name as the address spells it."""

    status: os.stat_result | None = None
    """Status of that name; None when it does not exist."""

    before: Version | None = None
    """The file as it was last read or written here."""

    _made: list[tuple[int, str]] = field(default_factory=list)

    def __enter__(self) -> Self:
        """Return the place itself."""
        return self

    def __exit__(self, *error: object) -> None:
        """Close all handles."""
        for parent, name in reversed(self._made):
            if any(error):
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

    # -- the file ------------------------------------------------------------------

    def read(self, limit: int) -> Version:
        """Return the file's bytes and the matching status, and remember them.

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
            self.before = Version(status, file.read(limit))
            return self.before

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

    def replace(self, data: bytes, *, mtime_ns: int) -> None:
        """Replace the file, if it is unchanged since it was read.

        Raises:
            ChangedError: It changed since it was read.
            OSError: It cannot be written; the old file is unchanged.
        """
        saving.save(self.folder, self.name, data, self._known, mtime_ns=mtime_ns)

    @property
    def _known(self) -> Version:
        assert self.before is not None, "a note is read before it is changed"
        return self.before

    # -- another name ----------------------------------------------------------------

    def copy_to(
        self,
        to: NotePlace,
        data: bytes,
        *,
        mtime_ns: int,
        spared: frozenset[str],
        left: bytes | None,
    ) -> bool:
        """Create a file under another name, for a name that nothing has here.

        Args:
            to: The place of the new name.
            data: The bytes that it has there.
            mtime_ns: Its modification time.
            spared: Names that are not a collision, since they are being renamed.
            left: Bytes of a file that takes the old name; None: nothing takes it.

        Returns:
            False when the new name is taken; then nothing was changed.

        Raises:
            ChangedError: Somebody created the file meanwhile.
            Refused: ``address_collision``.
            OSError: It cannot be written.
        """
        if to.is_free:
            to.refuse_collision(spared)
            to.create(data, mtime_ns=mtime_ns)
        elif not to._holds(data, mtime_ns):
            # Otherwise the same rename was killed here, and is finished now.
            return False
        self._leave(left, mtime_ns)
        return True

    def move_to(
        self, to: NotePlace, data: bytes, *, spared: frozenset[str], left: bytes | None
    ) -> bool:
        """Give the file another name and these bytes, if it is unchanged since it was read.

        The bytes change first and the name last, in one step. So after a crash the whole note is
        at one address, and the same rename can complete the change.

        Arguments, result and exceptions are those of ``copy_to``.
        """
        mtime_ns = self._known.mtime_ns
        if to.is_free:
            to.refuse_collision(spared)
            self._relocate(to, data)
        elif self._was_killed(to, data):
            saving.take_away(self.folder, self.name, self._known)
        elif to.status is not None and os.path.samestat(to.status, self._known.status):
            # Both names belong to one file: this file system ignores letter case.
            os.replace(self.name, to.asked, src_dir_fd=self.folder, dst_dir_fd=to.folder)
        else:
            return False
        self._leave(left, mtime_ns)
        return True

    def _leave(self, left: bytes | None, mtime_ns: int) -> None:
        if left is not None:
            with suppress(ChangedError):
                self.create(left, mtime_ns=mtime_ns)

    def _relocate(self, to: NotePlace, data: bytes) -> None:
        first = self._known
        if data != first.data:
            self.replace(data, mtime_ns=first.mtime_ns)
            self.before = self._written(data)
        try:
            self._rename(to)
        except (OSError, ChangedError):
            if data != first.data:
                with suppress(OSError, ChangedError):
                    self.replace(first.data or b"", mtime_ns=first.mtime_ns)
            raise

    def _was_killed(self, to: NotePlace, data: bytes) -> bool:
        """Return whether a rename was killed while the note had both names, and must be completed.

        Then both are names of one file; or the target has exactly the bytes that the rename would
        write, and the source's modification time to the nanosecond.
        """
        if to.status is not None and os.path.samestat(to.status, self._known.status):
            # If letter case is ignored, the folder lists only one of the two names.
            return self.name in self.siblings() and to.name in to.siblings()
        return to._holds(data, self._known.mtime_ns)

    def _holds(self, data: bytes, mtime_ns: int) -> bool:
        """Return whether the file has exactly these bytes and this modification time."""
        try:
            file = self.read(len(data))
        except Refused:
            return False
        return file.data == data and file.mtime_ns == mtime_ns

    def _written(self, data: bytes) -> Version:
        """Return the version of the file that was just replaced by these bytes.

        Raises:
            ChangedError: Somebody removed it meanwhile.
        """
        status = look(self.folder, self.name)
        if status is None:
            raise ChangedError
        return Version(status, data)

    def _rename(self, to: NotePlace) -> None:
        """Rename the file, if it is unchanged since it was read or replaced.

        Raises:
            ChangedError: It changed, or the new name is taken.
            OSError: It cannot be renamed.
        """
        try:
            saving.move(self.folder, self.name, to.folder, to.name, self._known)
        except FileExistsError:
            raise ChangedError from None
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            self._copy_to(to, self._known)

    def _copy_to(self, to: NotePlace, before: Version) -> None:
        """Move the file to a folder on another disk."""
        status = before.status
        kept = {"mtime_ns": status.st_mtime_ns, **atomic.attributes_of(status)}
        try:
            atomic.create(to.folder, to.name, before.data or b"", **kept)
        except FileExistsError:
            raise ChangedError from None
        try:
            saving.take_away(self.folder, self.name, before)
        except BaseException:
            os.unlink(to.name, dir_fd=to.folder)
            raise

    def _refuse_irregular(self, status: os.stat_result) -> None:
        if not stat.S_ISREG(status.st_mode):
            raise Refused("not_found", f"{quote(self.shown)} is no regular file, so it is no note")
