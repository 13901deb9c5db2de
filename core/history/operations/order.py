"""The order in which a search reads sessions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hindnote.core.history.sessions import Target

LARGE = 8 << 20
"""Size in bytes from which a session is read after the smaller ones of its age."""

SAME_AGE = 600.0
"""Sessions that changed within this many seconds count as the same age."""


def by_age(targets: Sequence[Target], running: str | None) -> Iterator[Target]:
    """Yield sessions in the order in which a search reads them.

    Newest first, but a large session comes after all others that changed within ten minutes before
    it: a few large ones would take as long as thousands of small ones. The running session is
    never deferred.

    Args:
        targets: The sessions, newest first.
        running: Canonical name of the running session.
    """
    waiting: list[Target] = []
    youngest = 0.0
    for target in targets:
        changed = youngest if target.entry is None else target.entry.modified
        if waiting and youngest - changed > SAME_AGE:
            yield from waiting
            waiting = []
        large = target.entry is not None and target.entry.size >= LARGE
        if large and target.canonical != running:
            if not waiting:
                youngest = changed
            waiting.append(target)
        else:
            yield target
    yield from waiting
