"""A scan of many session files for the needles of a query, newest first, in growing batches.

With ripgrep on the machine it reads the files of a batch on all processors; what it
finds, and everything where there is none, is read here.
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
"""Files that ripgrep is given at once: few at first, since a hit may be in the newest."""


NEWEST_HERE = 2
"""Of the newest sessions, those that are not given to ripgrep unless they are large."""

LONGEST = 3_600.0
"""Seconds for one batch, at most; a process cannot be waited for without end."""


class Scan:
    """Tells which sessions need no look into.

    Args:
        needles: What their files must hold one of.
        targets: The sessions, in the order in which they will be asked for.
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
            # Whoever opens a larger one refuses it, so it need not be read here.
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
        """Return the scan of a query; None when nothing can be ruled out by it."""
        if matcher is None:
            return None
        # Hosts add the same words to all of their sessions.
        added = {target.entry.added_words or () for target in targets if target.entry is not None}
        needles = Needles.of(matcher, chain.from_iterable(added))
        return None if needles is None else cls(needles, targets, running)

    def lacks(self, target: Target, deadline: float) -> bool:
        """Return whether a session holds no match, as the bytes of its file prove.

        Args:
            target: The session.
            deadline: When ripgrep is stopped, by ``time.monotonic``; what it had not
                finished is read here.
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
        """Return whether a file is read here before ripgrep would have started."""
        return place < NEWEST_HERE and size <= CHUNK

    def _scan_batch(self, ripgrep: str, seconds: float) -> None:
        batch = self._order[self._scanned : self._scanned + self._batch]
        self._scanned += len(batch)
        self._batch = min(self._batch * GROWTH, LARGEST_BATCH)
        files = [str(target.entry.file) for target in batch if target.entry is not None]
        self._candidates.update(self._matching(ripgrep, files, seconds))

    def _matching(self, ripgrep: str, files: list[str], seconds: float) -> list[str]:
        """Return the files in which ripgrep finds a needle, all of them when it fails."""
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
        # 1 says that nothing was found, 2 that something could not be read.
        if done.returncode not in (0, 1):
            return files
        return [os.fsdecode(name) for name in done.stdout.split(b"\0") if name]


@cache
def _ripgrep(program: str | None) -> str | None:
    """Return a program if it is ripgrep, which what another one says would not be."""
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
