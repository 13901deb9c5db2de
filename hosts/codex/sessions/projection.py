"""A session of Codex as a projection."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path

import msgspec

from hindnote.hosting import (
    Branch,
    Damage,
    FileCache,
    SessionHeader,
    SlotFacts,
    SlotKind,
)
from hindnote.hosts.codex.format.header import Head, Names
from hindnote.hosts.codex.format.line import ADDED_WORDS, facts_of
from hindnote.hosts.codex.paths import HOST, TOOL_PREFIX, home_of, named
from hindnote.hosts.codex.sessions.lineage import fork_of, started
from hindnote.hosts.codex.sessions.rollout import Rollout, State

_KINDS = {int(kind): kind for kind in SlotKind}

NAMES = Names()
"""The names of threads."""


class CodexProjection:
    """The state of a session at one moment.

    Args:
        rollout: The session.
        state: How much of it was read.
    """

    def __init__(self, rollout: Rollout, state: State) -> None:
        self._rollout = rollout
        self._state = state

    @cached_property
    def header(self) -> SessionHeader:
        """The session's header."""
        path, head = self._rollout.path, self._state.head
        if head is None:
            note = f"{path} has no readable header; its id is taken from the file's name"
            return SessionHeader(HOST, id_in_name(path), tool_prefix=TOOL_PREFIX, note=note)
        return SessionHeader(
            HOST,
            head.session,
            started=started(path, head),
            cwd=head.cwd,
            parent=fork_of(path, head).parent,
            name=name_of(path, head),
            tool_prefix=TOOL_PREFIX,
            note=_note(self._state),
        )

    @property
    def last_seq(self) -> int:
        """The highest seq allocated on any branch."""
        return self._state.last_seq

    @property
    def branch(self) -> Branch:
        """The active branch."""
        return self._state.branch

    @property
    def damaged(self) -> Sequence[Damage]:
        """Lines that were skipped."""
        return self._state.damaged

    @property
    def windows(self) -> Sequence[int]:
        """First seq of each window; a compaction opens one with its summary."""
        return self._state.windows

    @property
    def added_words(self) -> tuple[str, ...]:
        """Words that ``facts`` adds to the lines."""
        return ADDED_WORDS

    def facts(self, seq: int) -> SlotFacts:
        """Return the facts of a slot.

        Raises:
            Refused: ``unreadable_session`` when the file was rewritten meanwhile.
        """
        try:
            kind = _KINDS[self._kind(seq)]
            return facts_of(self._rollout.line(seq), kind, self._rollout.failed(seq))
        except msgspec.MsgspecError:
            # It was readable before.
            self._rollout.refuse_rewritten()

    def _kind(self, seq: int) -> int:
        return self.branch.kinds[bisect_left(self.branch.seqs, seq)]

    def raw(self, seq: int) -> Iterator[bytes]:
        """Yield the line that ``facts`` decodes.

        Raises:
            Refused: ``unreadable_session`` when the file was rewritten meanwhile.
        """
        yield self._rollout.line(seq)


def id_in_name(path: Path) -> str:
    """Return the thread's id in a file's name, or else the whole name."""
    name = named(path.name)
    return name.thread if name is not None else path.name.removesuffix(".jsonl")


def name_of(path: Path, head: Head) -> str | None:
    """Return a thread's name."""
    return NAMES.of(home_of(path), head.thread)


def _note(state: State) -> str | None:
    if state.missing is None:
        return None
    return (
        f"what it inherited cannot be read: rollout {state.missing} is not among Codex's sessions"
    )


_rollouts = FileCache(Rollout)


def open_rollout(path: Path, *, running: bool = False) -> CodexProjection | None:
    """Return the session in a file; None when there is no such file.

    Args:
        path: The file.
        running: The call belongs to this session.

    Raises:
        Refused: ``unreadable_session``, with the reason.
    """
    rollout = _rollouts.session(path, running=running)
    return None if rollout is None else CodexProjection(rollout, rollout.state)
