"""The test bench for a plugin: a writer and a scratch folder, new for each check."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from hindnote.core.call import Answer as Delivered
from hindnote.core.call import Dispatcher
from hindnote.core.history.projection import Projection, SlotKind
from hindnote.core.history.timeline import ROLES
from hindnote.core.plugins.hosts import Hosts
from hindnote.core.plugins.models import HostCall, SessionEntry
from hindnote.testing.turns import Turn


class SessionWriter(Protocol):
    """What a host's author supplies: the plugin, and a writer of its session format."""

    @property
    def slug(self) -> str:
        """The host's slug: the name of its entry point."""
        ...

    @property
    def plugin(self) -> object:
        """The plugin: a module, class or instance."""
        ...

    def begin(self, folder: Path) -> HostCall:
        """Prepare a new session in ``folder`` and return a call made in it.

        The session's file need not exist until something is appended. The call's ``cwd`` is an
        existing directory, and everything that the catalogue needs to find the session
        (``config_dir``, ``extra``) is set. When called again with the same folder, it begins
        another session next to the first.
        """
        ...

    def append(self, call: HostCall, turns: Sequence[Turn]) -> None:
        """Append turns to the call's session in the way that the host would write them.

        A host that never compacts may ignore a ``Compacted`` turn.
        """
        ...

    def damage(self, call: HostCall) -> bool:
        """Append one record that cannot be decoded, including its line end.

        Returns:
            False when the format cannot have such a record (for example a database).
        """
        ...


@runtime_checkable
class Rewinding(Protocol):
    """Optional methods of a writer whose host can rewind a session."""

    def rewind(self, call: HostCall) -> None:
        """Rewind to before the last message of the person.

        Later turns are appended after what came before it; the rewound turns stay in the file.
        """
        ...


@runtime_checkable
class Forking(Protocol):
    """Optional methods of a writer whose host can fork a session."""

    def fork(self, call: HostCall) -> HostCall:
        """Fork the whole session of the call, and return a call made in the new one."""
        ...


@runtime_checkable
class Delegating(Protocol):
    """Optional methods of a writer whose host gives subagents sessions of their own."""

    def delegate(self, call: HostCall) -> HostCall:
        """Start a subagent in the call's session, and return a call made by it.

        The call has an ``agent_id``. ``append`` with this call adds to the subagent's session.
        """
        ...


@dataclass(frozen=True)
class Session:
    """A call's session as the tools show it."""

    dispatcher: Dispatcher
    call: HostCall

    def ask(self, operation: str, arguments: dict[str, Any]) -> Delivered:
        """Carry out one call in the session."""
        return self.dispatcher.call(self.call, operation, arguments)

    def rows(self, **arguments: Any) -> list[dict[str, Any]]:
        """Return all event rows of the session, oldest first, by following the pages."""
        asked: dict[str, Any] = {"roles": list(ROLES), "limit": 200, **arguments}
        found: list[dict[str, Any]] = []
        recipe: dict[str, Any] | None = {}
        while recipe is not None:
            answer = self.ask("history_list", {**asked, **recipe})
            assert not answer.is_error, (
                f"history_list refuses the session: {json.dumps(dict(answer.result))}"
            )
            found = [*answer.result["items"], *found]
            recipe = answer.result["page_older"]
        return found

    def document(self, seq: int) -> str:
        """Return the whole document of an event."""
        parts = []
        offset: int | None = 0
        while offset is not None:
            answer = self.ask("history_read", {"seq": seq, "offset_chars": offset})
            assert not answer.is_error, f"seq {seq} cannot be read: {dict(answer.result)}"
            parts.append(answer.result["text"])
            offset = answer.result["next_offset_chars"]
        return "".join(parts)


@dataclass(frozen=True)
class Bench:
    """One writer with a scratch folder."""

    writer: SessionWriter
    folder: Path

    @cached_property
    def hosts(self) -> Hosts:
        """The plugin under test, loaded by the usual rules."""
        return Hosts.of({self.writer.slug: self.writer.plugin})

    @cached_property
    def dispatcher(self) -> Dispatcher:
        """Carries out calls, with a notes home in the scratch folder."""
        return Dispatcher(self.hosts, self.folder / "notes")

    @cached_property
    def call(self) -> HostCall:
        """A call in a new session."""
        return self.writer.begin(self.folder)

    def append(self, *scripts: Sequence[Turn]) -> None:
        """Append turns to the session."""
        for turns in scripts:
            self.writer.append(self.call, turns)

    def projection(self, call: HostCall | None = None) -> Projection:
        """Return the session's projection; fails the check when there is none."""
        found = self.hosts.current(call or self.call)
        assert found is not None, (
            "host_projection answered None for a session that has turns; "
            "return a projection of the call's own session when session is None"
        )
        return found

    def ask(self, operation: str, arguments: dict[str, Any]) -> Delivered:
        """Carry out one call in the session."""
        return Session(self.dispatcher, self.call).ask(operation, arguments)

    def said(self, call: HostCall | None = None) -> list[str]:
        """Return the messages of persons in a session, in order."""
        found = self.projection(call)
        kinds, seqs = found.branch.kinds, found.branch.seqs
        return [
            found.facts(seq).text
            for seq, kind in zip(seqs, kinds, strict=True)
            if kind == SlotKind.USER
        ]

    def catalogue(self, call: HostCall | None = None) -> list[SessionEntry]:
        """Return the sessions that the plugin lists."""
        return list(self.hosts.sessions(call or self.call, self.writer.slug))

    def rows(self, **arguments: Any) -> list[dict[str, Any]]:
        """Return all event rows of the session, oldest first, by following the pages."""
        return Session(self.dispatcher, self.call).rows(**arguments)

    def document(self, seq: int) -> str:
        """Return the whole document of an event."""
        return Session(self.dispatcher, self.call).document(seq)

    def elsewhere(self) -> HostCall:
        """Return a call that is bound to another host."""
        return HostCall(host="another-host", cwd=self.call.cwd, session_id="elsewhere")
