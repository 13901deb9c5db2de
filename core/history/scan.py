"""Scan many session files for the needles of a query, newest first, in growing batches.

If ripgrep is installed, it scans a batch on all processors. The files in which it finds something,
and all files without ripgrep, are scanned in this process.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache
from itertools import chain
from time import monotonic
from typing import TYPE_CHECKING

from hindnote.core.history.lines import FILE_LIMIT
from hindnote.core.history.prefilter import CHUNK, Needles
from hindnote.core.system.programs import on_path

if TYPE_CHECKING:
    from hindnote.core.history.sessions import Target
    from hindnote.core.text.matching import Matcher

FIRST_BATCH, GROWTH, LARGEST_BATCH = 8, 4, 1_024
"""Number of files per ripgrep run: few at first, since a hit may be in the newest one."""


NEWEST_HERE = 2
"""Number of the newest sessions that are scanned in this process, unless they are large."""

LONGEST = 3_600.0
"""Maximum duration of one batch, in seconds."""

BATCH_SECONDS, BYTES_PER_SECOND = 2.0, 5_000_000
"""A batch may take so many seconds, and one more for each so many bytes of its files. A file that
became a pipe or a device would otherwise take all of the search's time."""


class Scan:
    """Tells which sessions need not be decoded.

    Args:
        needles: Byte strings of which the files must contain one.
        targets: The sessions, in the order in which they will be checked.
        running: Canonical name of the running session, which is never ruled out.
    """

    def __init__(self, needles: Needles, targets: Sequence[Target], running: str | None) -> None:
        self._needles = needles
        self._order = [
            target
            for target in targets
            if target.entry is not None
            and target.entry.added_words is not None
            and target.canonical != running
            # A larger one is refused when it is opened, so it need not be scanned.
            and target.entry.size <= FILE_LIMIT
        ]
        self._places = {target.canonical: place for place, target in enumerate(self._order)}
        self._ripgrep = _ripgrep(on_path("rg"))
        self._batch = FIRST_BATCH
        self._scanned = 0
        self._candidates: set[str] = set()

    @classmethod
    def of(
        cls, matcher: Matcher | None, targets: Sequence[Target], running: str | None
    ) -> Scan | None:
        """Return the scan for a query; None when no session can be ruled out."""
        if matcher is None:
            return None
        # A host adds the same words to all of its sessions.
        added = {target.entry.added_words or () for target in targets if target.entry is not None}
        needles = Needles.of(matcher, chain.from_iterable(added))
        return None if needles is None else cls(needles, targets, running)

    def lacks(self, target: Target, deadline: float) -> bool:
        """Return whether the bytes of a session's file prove that it contains no match.

        Args:
            target: The session.
            deadline: When to stop ripgrep, as ``time.monotonic``; files that it had not finished
                are scanned in this process.
        """
        place = self._places.get(target.canonical)
        if place is None or target.entry is None:
            return False
        if self._ripgrep is not None and not self._is_quick(place, target.entry.size):
            while place >= self._scanned:
                self._scan_batch(self._ripgrep, min(max(deadline - monotonic(), 0.1), LONGEST))
            if str(target.entry.file) not in self._candidates:
                return True
        return not self._needles.may_hold(target.entry.file)

    def _is_quick(self, place: int, size: int) -> bool:
        """Return whether scanning a file here takes less time than starting ripgrep."""
        return place < NEWEST_HERE and size <= CHUNK

    def _scan_batch(self, ripgrep: str, seconds: float) -> None:
        batch = self._order[self._scanned : self._scanned + self._batch]
        self._scanned += len(batch)
        self._batch = min(self._batch * GROWTH, LARGEST_BATCH)
        sizes = {str(one.entry.file): one.entry.size for one in batch if one.entry is not None}
        # Ripgrep would wait for a pipe, and read a device without end.
        files = [file for file in sizes if os.path.isfile(file)]  # noqa: PTH113 (thousands)
        self._candidates.update(sizes.keys() - files)
        if files:
            limit = BATCH_SECONDS + sum(sizes.values()) / BYTES_PER_SECOND
            self._candidates.update(self._matching(ripgrep, files, min(seconds, limit)))

    def _matching(self, ripgrep: str, files: list[str], seconds: float) -> list[str]:
        """Return the files in which ripgrep finds a needle; all of them when it fails."""
        import subprocess

        options = ["--no-config", "--no-ignore", "--hidden", "--text", "--encoding=none"]
        command = [ripgrep, *options, "--files-with-matches", "--null", "--regexp"]
        try:
            done = subprocess.run(
                [*command, self._needles.pattern(), "--", *files],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=seconds,
                check=False,
            )
        except (OSError, ValueError, subprocess.TimeoutExpired):
            return files
        # Exit code 1 means no match, 2 means an error.
        if done.returncode not in (0, 1):
            return files
        return [os.fsdecode(name) for name in done.stdout.split(b"\0") if name]


@cache
def _ripgrep(program: str | None) -> str | None:
    """Return the program if it is ripgrep; the results of another one would be useless."""
    import subprocess

    if program is None:
        return None
    try:
        done = subprocess.run(
            [program, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=5,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return program if done.stdout.startswith(b"ripgrep ") else None
