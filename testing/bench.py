"""The bench on which a plugin is checked: its sessions, written anew for each check."""

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
    """What a host's author supplies: the plugin, and a printer of its session format."""

    @property
    def slug(self) -> str:
        """The host's slug, the name of its entry point."""
        ...

    @property
    def plugin(self) -> object:
        """The plugin: a module, class or instance."""
        ...

    def begin(self, folder: Path) -> HostCall:
        """Prepare a new session below ``folder`` and return a call made in it.

        The session's file need not exist until something is appended. The call's
        ``cwd`` is an existing directory, and what the catalogue needs to find the
        session (``config_dir``, ``extra``) is set. Called again with the same folder, it
        begins another session beside the first.
        """
        ...

    def append(self, call: HostCall, turns: Sequence[Turn]) -> None:
        """Append turns to the call's session as the host itself would write them.

        A ``Compacted`` turn may be left out by a host that never compacts.
        """
        ...

    def damage(self, call: HostCall) -> bool:
        """Append one record that cannot be read, complete with its line end.

        Returns:
            False when the format has no such thing (a database, say).
        """
        ...


@runtime_checkable
class Rewinding(Protocol):
    """What a writer has besides when its host's sessions can be taken back, or branch."""

    def rewind(self, call: HostCall) -> None:
        """Take back what a person said last and all that followed it.

        What is appended next follows what stood before; what was taken back stays in the file.
        """
        ...


@runtime_checkable
class Forking(Protocol):
    """What a writer has besides when its host makes a new session from the turns of another."""

    def fork(self, call: HostCall) -> HostCall:
        """Fork the call's session, all of it, and return a call made in the new one."""
        ...


@runtime_checkable
class Delegating(Protocol):
    """What a writer has besides when its host's subagents have sessions of their own."""

    def delegate(self, call: HostCall) -> HostCall:
        """Start a subagent in the call's session and return a call that it makes.

        The call's ``agent_id`` is set. ``append`` with this call adds to its own session.
        """
        ...


@dataclass(frozen=True)
class Session:
    """A call's session as the tools deliver it."""

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
    """One writer in one scratch folder."""

    writer: SessionWriter
    folder: Path

    @cached_property
    def hosts(self) -> Hosts:
        """The plugin alone, loaded by the manager's rules."""
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
        """Return the session's projection; an absent one is a failed check."""
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
        """Return what persons said in a session, in order."""
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
