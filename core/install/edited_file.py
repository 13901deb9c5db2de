"""A person's own configuration file, of which a part is ours: read, and replaced as a whole."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from hindnote.core.fs import atomic
from hindnote.core.fs.bounded import read_bounded
from hindnote.core.fs.handles import closing, look, open_root, sync
from hindnote.core.install.managed_folder import NotOurs


@dataclass(frozen=True)
class EditedFile:
    """One file and what is done to it. A link to it is followed: it is the person's.

    Args:
        path: The file, absolute; neither it nor its folder need exist.
        dry_run: Say what would be done, and do nothing.
    """

    path: Path
    dry_run: bool = False

    def read(self) -> bytes | None:
        """Return what the file holds; None when there is none.

        Raises:
            OSError: It cannot be read, or is too large for a configuration.
        """
        try:
            return read_bounded(self.path)
        except FileNotFoundError:
            return None

    def write(self, data: bytes, before: bytes | None) -> Iterator[str]:
        """Make the file hold ``data``; yield a line that says so.

        Readers see the old file or the new one. Its mode stays, and its owner
        when we are root.

        Args:
            data: The whole new content.
            before: What ``read`` returned, from which ``data`` was made.

        Raises:
            NotOurs: The file changed meanwhile.
            OSError: It cannot be written.
        """
        verb = "write" if before is None else "change"
        if self.dry_run:
            yield f"would {verb} {self.path}"
            return
        target = Path(os.path.realpath(self.path))
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with closing(open_root(target.parent)) as folder:
            if self.read() != before:
                raise NotOurs(f"{self.path} was changed meanwhile; try again")
            old = look(folder, target.name)
            kept = {"mode": 0o600} if old is None else atomic.attributes_of(old)
            with atomic.temporary(folder, data, **kept) as made:
                os.replace(made, target.name, src_dir_fd=folder, dst_dir_fd=folder)
            sync(folder)
        yield f"{'wrote' if before is None else 'changed'} {self.path}"

    def remove(self, before: bytes) -> Iterator[str]:
        """Remove the file; yield a line that says so.

        Args:
            before: What ``read`` returned.

        Raises:
            NotOurs: The file changed meanwhile.
            OSError: It cannot be removed.
        """
        if self.dry_run:
            yield f"would remove {self.path}"
            return
        if self.read() != before:
            raise NotOurs(f"{self.path} was changed meanwhile; try again")
        self.path.unlink()
        yield f"removed {self.path}"
