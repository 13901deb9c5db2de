"""Session selectors: find the one or many sessions that a call names.

Sessions are looked up in the catalogues of the loaded hosts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from hindnote.core.errors import HostFailure, Refused
from hindnote.core.places.cwd import no_project
from hindnote.core.places.project import project_key
from hindnote.core.text.messages import quote
from hindnote.core.text.slug import encode_session_id

if TYPE_CHECKING:
    from hindnote.core.errors import RefusalCode
    from hindnote.core.history.projection import Projection, SessionHeader
    from hindnote.core.plugins.models import SessionEntry
    from hindnote.core.tools.operation import BoundCall

ONE_SESSION: frozenset[RefusalCode] = frozenset(
    {
        "invalid_session",
        "unknown_session",
        "ambiguous_session",
        "unreadable_session",
        "no_current_session",
        "io_error",
    }
)
"""Refusal codes of an operation on one named session."""

PREFIX_LENGTH = 4
"""Minimum length of an abbreviated id, in characters."""

CANDIDATES_SHOWN = 10
DIRECTORY_SHOWN = 60
"""Maximum length of a candidate's directory in a message; its end is the most useful part."""

PARENT = "@parent"
EVERY = "*"
PROJECT = "project:*"


class Target(NamedTuple):
    """One session that a selector names."""

    canonical: str
    entry: SessionEntry | None
    """None for a running session that is not in a catalogue."""


OTHERS = 'name one with session, or list the latest of every session with {"session": "*"}'
"""Advice for a call without a current session."""


class Sessions:
    """The sessions that one call can select."""

    def __init__(self, bound: BoundCall) -> None:
        self._bound = bound
        self._catalogues: dict[str, list[SessionEntry]] = {}
        self.failures: dict[str, HostFailure] = {}
        """Errors of hosts that failed while others succeeded."""

    def named(self, selector: str | None) -> tuple[Projection, str | None]:
        """Return the call's session, and its canonical name if the call named it.

        Raises:
            Refused: One of ``ONE_SESSION``.
        """
        return (self.current(), None) if selector is None else self.one(selector)

    # -- one session -----------------------------------------------------------

    def current(self) -> Projection:
        """Return the session in which the call was made.

        Raises:
            Refused: ``no_current_session``, ``unreadable_session``.
        """
        projection = self._bound.history.current(self._bound.call)
        if projection is None:
            raise Refused("no_current_session", f"{self._missing()}; {OTHERS}")
        return projection

    def _missing(self) -> str:
        host = self._bound.call.host
        if self._bound.history.lists_sessions(host):
            return "this call belongs to no session that has a history yet"
        return f"the sessions of the program that calls ({host}) cannot be read"

    def one(self, selector: str) -> tuple[Projection, str]:
        """Return the session that a selector names, and its canonical name.

        Raises:
            Refused: ``invalid_session`` (also for a selector of many), ``unknown_session``,
                ``ambiguous_session``, ``unreadable_session``, ``no_current_session``.
        """
        target = self.target(selector)
        projection = self.open(target)
        if projection is None:
            raise Refused("unknown_session", f"session {quote(target.canonical)} is not there now")
        return projection, target.canonical

    def target(self, selector: str) -> Target:
        """Return the session that a selector names, without opening it.

        Raises:
            Refused: ``invalid_session`` (also for a selector of many), ``unknown_session``,
                ``ambiguous_session``; for ``@parent`` all of ``current``.
        """
        if is_wildcard(selector):
            raise Refused(
                "invalid_session",
                f"session {quote(selector)} names many sessions, and this call takes one; its "
                "canonical name is in every row of a list",
            )
        return self._parent() if selector == PARENT else self._named(selector)

    def open(self, target: Target) -> Projection | None:
        """Return a session; None when it no longer exists.

        Raises:
            Refused: ``unreadable_session``.
        """
        if target.canonical == self.running:
            # Only the host knows the current entry of its running session; a file does not contain
            # it.
            projection = self._bound.history.current(self._bound.call)
            if projection is not None:
                return projection
        if target.entry is None:
            return None
        return self._bound.history.open(self._bound.call, target.entry)

    def asking(self, canonical: str | None) -> str | None:
        """Return the id of the call that is being answered, if it belongs to this session."""
        here = canonical is None or canonical == self.running
        return self._bound.call.call_id if here else None

    # -- many ------------------------------------------------------------------

    def many(self, selector: str) -> list[Target]:
        """Return the sessions that a wildcard names, most recently changed first.

        If one of several hosts fails, its error is in ``failures`` and its sessions are missing.

        Raises:
            Refused: ``invalid_session`` when it names a host that is not installed.
            HostFailure: The only host that is named fails, or failed to load.
        """
        if selector in (PROJECT, EVERY):
            for name, failure in self._bound.history.not_loaded().items():
                self.failures.setdefault(name, failure)
        if selector == PROJECT:
            belongs = self._belongs()
            found = (entry for entry in self._served(self._hosts) if belongs(entry.cwd))
            return self._targets(found, lambda header: belongs(header.cwd))
        if selector == EVERY:
            return self._targets(self._served(self._hosts), lambda header: True)
        host = selector.removesuffix(":*")
        self._check_loaded(host)
        if host not in self._hosts:
            raise Refused(
                "invalid_session",
                f"session {quote(selector)} names no installed host; there are: "
                f"{', '.join(self._hosts)}",
            )
        return self._targets(self._entries([host]), lambda header: header.host == host)

    def _targets(
        self, entries: Iterable[SessionEntry], meant: Callable[[SessionHeader], bool]
    ) -> list[Target]:
        newest = sorted(entries, key=lambda entry: entry.modified, reverse=True)
        found = [Target(entry.canonical, entry) for entry in newest]
        if self.running is None or any(target.canonical == self.running for target in found):
            return found
        try:
            projection = self._bound.history.current(self._bound.call)
        except HostFailure as failure:
            self.pass_over(self._bound.call.host, failure)
            return found
        if projection is None or not meant(projection.header):
            return found
        return [Target(self.running, None), *found]

    def _belongs(self) -> Callable[[str | None], bool]:
        """Return a function that tells whether a directory is in the call's project."""
        wanted = self._bound.local_key
        if wanted is None:
            raise no_project("name sessions otherwise: '*', '<host>:*' or an id")
        known: dict[str | None, bool] = {None: False}

        def belongs(cwd: str | None) -> bool:
            if cwd is not None and cwd not in known:
                known[cwd] = _key(cwd) == wanted
            return known[cwd]

        return belongs

    def _check_loaded(self, host: str) -> None:
        """Raise the error of an installed host that could not be loaded."""
        failure = self._bound.history.not_loaded().get(host)
        if failure is not None:
            raise failure

    # -- finding ---------------------------------------------------------------

    @cached_property
    def _hosts(self) -> list[str]:
        return list(self._bound.history.slugs())

    @cached_property
    def running(self) -> str | None:
        """Canonical name of the session that the call runs in."""
        session_id = self._bound.identity.session_id
        if session_id is None:
            return None
        agent = self._bound.call.agent_id
        return f"{self._bound.call.host}:{session_id}{f'/{agent}' if agent else ''}"

    def _entries(self, hosts: Iterable[str]) -> Iterator[SessionEntry]:
        for host in hosts:
            if host not in self._catalogues:
                entries = self._bound.history.sessions(self._bound.call, host)
                # Two files may have the same id; the newer one is used.
                unique: dict[str, SessionEntry] = {}
                for entry in entries:
                    unique.setdefault(entry.id, entry)
                self._catalogues[host] = list(unique.values())
            yield from self._catalogues[host]

    def _served(self, hosts: Iterable[str]) -> Iterator[SessionEntry]:
        """Yield the same as ``_entries``, skipping hosts that fail."""
        for host in hosts:
            if host in self.failures and host not in self._catalogues:
                continue
            try:
                yield from self._entries([host])
            except HostFailure as failure:
                self.pass_over(host, failure)

    def pass_over(self, host: str, failure: HostFailure) -> None:
        """Continue without a host or one of its sessions; keeps and logs the host's first error."""
        import logging

        if host in self.failures:
            return
        logging.getLogger("hindnote.history").warning("%s", failure, exc_info=failure.__cause__)
        self.failures[host] = failure

    def _named(self, selector: str) -> Target:
        _check(selector)
        if self.running is not None and selector in (
            self.running,
            self.running.partition(":")[2],
        ):
            return self._running_target(self.running)
        own, hosts = self._bound.call.host, self._hosts
        head, colon, rest = selector.partition(":")
        if colon:
            self._check_loaded(head)
        if colon and head in hosts:
            return self._pick(selector, rest, [[head]])
        others = [host for host in hosts if host != own]
        return self._pick(selector, selector, [[own], others])

    def _running_target(self, running: str) -> Target:
        session_id = running.partition(":")[2]
        entries = self._entries([self._bound.call.host])
        return Target(running, next((one for one in entries if one.id == session_id), None))

    def _pick(self, selector: str, wanted: str, groups: list[list[str]]) -> Target:
        """Return the session with the id ``wanted``, from the first group of hosts that has one."""
        # The first group must answer; errors of the others are only collected.
        entries = [self._entries, *([self._served] * (len(groups) - 1))]
        for matches in (_is(wanted), _begins(wanted)):
            for asked, hosts in zip(entries, groups, strict=True):
                found = [entry for entry in asked(hosts) if matches(entry.id)]
                if len(found) > 1:
                    raise _ambiguous(selector, found)
                if found:
                    return Target(found[0].canonical, found[0])
        if len(wanted) < PREFIX_LENGTH:
            raise Refused(
                "invalid_session",
                f"no session has the id {quote(selector)}, and the beginning of an id needs at "
                f"least {PREFIX_LENGTH} characters",
            )
        if self.failures:
            # It may belong to a host that failed.
            raise next(iter(self.failures.values()))
        hosts = sorted({host for group in groups for host in group})
        if self._was_there(wanted, hosts):
            raise Refused(
                "unknown_session",
                f"session {quote(selector)} has no file any more: it was deleted or moved away, and "
                "its history with it; notes of it and forks of it are still there",
            )
        count = sum(1 for _ in self._entries(hosts))
        raise Refused(
            "unknown_session",
            f"no session {quote(selector)} among {count} of {', '.join(hosts)}; list the latest "
            'of every session with {"session": "*"}',
        )

    def _was_there(self, session_id: str, hosts: list[str]) -> bool:
        """Return whether a deleted session left a trace: its notebook, or a fork of it."""
        home, folder = self._bound.identity.home, encode_session_id(session_id)
        # A database is not asked, since history never waits for it.
        if isinstance(home, Path) and any(
            (home / host / "session" / folder).is_dir() for host in hosts
        ):
            return True
        return any(entry.parent == session_id for entry in self._entries(hosts))

    def _parent(self) -> Target:
        header = self.current().header
        if header.parent is None:
            raise Refused("unknown_session", "this session was not forked from another one")
        for entry in self._entries([header.host]):
            if entry.id == header.parent:
                return Target(entry.canonical, entry)
        raise Refused(
            "unknown_session",
            f"this session was forked from {quote(f'{header.host}:{header.parent}')}, which is "
            "not there now",
        )


def is_wildcard(selector: str) -> bool:
    """Return whether a selector is a wildcard for many sessions."""
    return selector == EVERY or (selector.endswith(":*") and selector.count("*") == 1)


def _check(selector: str) -> None:
    """Raise ``invalid_session`` for a selector that cannot name one session."""
    if not selector.strip() or selector.startswith("@") or "*" in selector:
        raise Refused(
            "invalid_session",
            f"session {quote(selector)} is no selector; one session: <host>:<id>, an id or the "
            f"first {PREFIX_LENGTH} or more characters of one, {PARENT}; many: {EVERY}, <host>:*, "
            f"{PROJECT}",
        )


def _is(wanted: str) -> Callable[[str], bool]:
    return lambda session_id: session_id == wanted


def _begins(wanted: str) -> Callable[[str], bool]:
    if len(wanted) < PREFIX_LENGTH:
        return lambda session_id: False
    # Without a slash it means a main session only: a subagent's id begins with its session's id.
    return lambda session_id: (
        session_id.startswith(wanted) and ("/" in wanted or "/" not in session_id)
    )


def _ambiguous(selector: str, found: list[SessionEntry]) -> Refused:
    shown = [_candidate(entry) for entry in found[:CANDIDATES_SHOWN]]
    rest = f"; and {len(found) - len(shown)} more" if len(found) > len(shown) else ""
    return Refused(
        "ambiguous_session",
        f"{len(found)} sessions begin with {quote(selector)}: {'; '.join(shown)}{rest}; "
        "give more of the id",
    )


def _candidate(entry: SessionEntry) -> str:
    name = entry.canonical if len(entry.canonical) <= 80 else f"{entry.canonical[:79]}…"
    directory = entry.cwd or "no directory recorded"
    if len(directory) > DIRECTORY_SHOWN:
        directory = f"…{directory[-DIRECTORY_SHOWN:]}"
    return f"{name} ({(entry.started or 'no time recorded')[:40]}, {directory})"


def _key(cwd: str) -> str | None:
    path = Path(cwd)
    try:
        return project_key(path) if path.is_absolute() else None
    except (OSError, ValueError, RuntimeError):
        return None
