"""Find the damaged lines of recorded sessions, by reading all lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from hindnote.core.doctor.findings import Finding
from hindnote.core.errors import HostFailure, Refused
from hindnote.core.history.sessions import is_wildcard
from hindnote.core.text.messages import counted

if TYPE_CHECKING:
    from hindnote.core.history.projection import Projection
    from hindnote.core.history.sessions import Sessions, Target
    from hindnote.core.tools.operation import Progress

LINES_TOLD = 20
"""Maximum number of damaged lines reported per session when many sessions are checked."""


def examine_sessions(sessions: Sessions, selector: str, progress: Progress) -> Iterator[Finding]:
    """Yield the problems of the sessions that a selector names.

    Args:
        sessions: The sessions that can be selected.
        selector: A selector of one session or of many.
        progress: Called with the number of sessions done and the total.

    Raises:
        Refused: The selector matches no session.
    """
    many = is_wildcard(selector)
    targets = sessions.many(selector) if many else [sessions.target(selector)]
    for host, failure in sorted(sessions.failures.items()):
        yield Finding("error", f"host {host}", str(failure))
    for done, target in enumerate(targets):
        progress(done, len(targets))
        try:
            projection = sessions.open(target)
        except Refused as refused:
            yield Finding("error", target.canonical, refused.refusal.message)
            continue
        except HostFailure as failure:
            yield Finding("error", target.canonical, str(failure))
            continue
        if projection is not None:
            yield from _examine(target, projection, LINES_TOLD if many else None)
    yield Finding("ok", "sessions", f"{len(targets):,} looked at")


def _examine(target: Target, projection: Projection, told: int | None) -> Iterator[Finding]:
    name, damaged = target.canonical, projection.damaged
    if projection.header.note is not None:
        yield Finding("warning", name, projection.header.note)
    if not damaged:
        return
    where = name if target.entry is None else target.entry.file
    yield Finding("warning", name, f"damaged_lines: {len(damaged)} in {where}")
    for one in damaged[:told]:
        yield Finding(
            "warning", name, f"byte {one.offset}, {counted(one.size, 'byte')}: {one.reason}"
        )
    if told is not None and len(damaged) > told:
        yield Finding(
            "warning",
            name,
            f"and {len(damaged) - told:,} more damaged lines",
            f"hindnote doctor --sessions {name}",
        )
