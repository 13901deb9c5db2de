"""The loaded host plugins: all calls of hooks go through this typed class.

Plugins come from the entry-point group ``hindnote.hosts``; the built-in hosts use it too. A plugin
that breaks the contract is refused as a whole and listed with the reason, and the others still
work. A plugin is imported on first use, so a process of one host does not pay for the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from hindnote.core.errors import HostFailure, Malformed
from hindnote.core.plugins.border import (
    plain_call,
    plain_decoration,
    plain_entry,
    plain_identity,
    plain_path,
    plain_text,
)
from hindnote.core.plugins.guard import answering, crash, raised, stdout_to_stderr
from hindnote.core.plugins.loading import HostReport, Loaded, Loader
from hindnote.core.plugins.models import Decoration

if TYPE_CHECKING:
    from pathlib import Path

    from hindnote.core.history.projection import Projection
    from hindnote.core.plugins.models import HostCall, HostIdentity, SessionEntry

SESSIONS_LIMIT = 1_000_000
"""Maximum number of sessions of one catalogue, since a generator may never end."""

_END = object()


class Hosts:
    """The host plugins of one process. Thread-safe.

    Created by ``Hosts.load`` or ``Hosts.of``. Every method that calls a plugin raises
    ``HostFailure`` when the host is not installed or was refused, when the plugin crashes, and
    when its answer breaks the contract.
    """

    def __init__(self, loader: Loader) -> None:
        self._loader = loader

    @classmethod
    def load(cls, own: Mapping[str, object] | None = None) -> Hosts:
        """Return the installed hosts.

        Entry points are searched when a host is requested that is not loaded yet, and each plugin
        is imported on first use.

        Args:
            own: Plugins that this process has imported already, by slug. A host's helper passes
                its own, and then a notes call needs no search.

        Raises:
            PluginRefused: A plugin in ``own`` breaks the contract.
        """
        return cls(Loader(own or {}, discover=True))

    @classmethod
    def of(cls, plugins: Mapping[str, object]) -> Hosts:
        """Return exactly these plugins, by slug, for tests and programs that embed hindnote.

        Raises:
            PluginRefused: A plugin breaks the contract.
        """
        return cls(Loader(plugins, discover=False))

    # -- listing ---------------------------------------------------------------

    def slugs(self) -> tuple[str, ...]:
        """Return the slugs of all usable hosts, sorted. Imports all of them."""
        return self._loader.slugs()

    def report(self) -> list[HostReport]:
        """Return every installed plugin; refused ones with the reason."""
        return self._loader.report()

    def not_loaded(self) -> dict[str, HostFailure]:
        """Return the error of each installed plugin that was refused, by name.

        The name is the plugin's slug, or slug and distribution where another plugin has that slug.
        """
        return self._loader.not_loaded()

    # -- in every call ---------------------------------------------------------

    def base_cwd(self, call: HostCall) -> Path:
        """Return the absolute directory to which the call's paths are relative.

        It may have been deleted since the session began; an operation that needs it refuses later.
        """
        host = self._loader.host(_slug(call))
        with answering(host.source, "host_base_cwd"):
            answer = plain_path(_ask(host, "host_base_cwd", call=plain_call(call)), "a path")
        if not answer.is_absolute() or "\0" in str(answer):
            raise HostFailure(
                f"{host.source} answered host_base_cwd with {str(answer)!r}, "
                "which is not an absolute path"
            )
        return answer

    def identity(self, call: HostCall) -> HostIdentity:
        """Return who is calling, in the host's own names."""
        host = self._loader.host(_slug(call))
        with answering(host.source, "host_identity"):
            answer = _ask(host, "host_identity", call=plain_call(call))
            return plain_identity(answer, host.source.slug)

    def decoration(self, call: HostCall, operation: str) -> Decoration:
        """Return the host's text around a history operation's result; empty when it has none."""
        host = self._loader.host(_slug(call))
        with answering(host.source, "host_decoration"):
            answer = _ask(host, "host_decoration", operation=operation)
            return Decoration() if answer is None else plain_decoration(answer)

    # -- for history -----------------------------------------------------------

    def current(self, call: HostCall) -> Projection | None:
        """Return the call's own session; None when it has no entries yet."""
        return self._projection(call, _slug(call), None)

    def lists_sessions(self, host: str) -> bool:
        """Return whether a host's plugin can list sessions, even if there are none."""
        return bool(self._loader.host(host).manager.hook.host_sessions.get_hookimpls())

    def sessions(self, call: HostCall, host: str) -> Iterator[SessionEntry]:
        """Return one host's catalogue, newest session first; empty when the host keeps none."""
        asked = self._loader.host(host)
        with answering(asked.source, "host_sessions"):
            answers = _ask(asked, "host_sessions", call=plain_call(call))
            answer = next(iter(answers), None)
            listed = iter(() if answer is None else answer)
        return _entries(asked, listed)

    def open(self, call: HostCall, session: SessionEntry) -> Projection | None:
        """Return a session from a catalogue; None when it no longer exists.

        Raises:
            Refused: ``unreadable_session``.
        """
        return self._projection(call, session.host, session)

    def _projection(
        self, call: HostCall, slug: str, session: SessionEntry | None
    ) -> Projection | None:
        host = self._loader.host(slug)
        with answering(host.source, "host_projection"):
            # The plugin gets copies, so changing them has no effect in the core.
            given = None if session is None else plain_entry(session, slug, for_plugin=True)
            answer = _ask(host, "host_projection", call=plain_call(call), session=given)
        if answer is None:
            return None
        # Imported inside the function: calls that need no history do not import its models.
        from hindnote.core.plugins.projected import checked

        return checked(host.source, answer)


def _slug(call: HostCall) -> str:
    try:
        return plain_text(call.host, "host")
    except Malformed as error:
        raise HostFailure(f"a call names its host with {error}") from error


def _ask(host: Loaded, hook: str, **arguments: Any) -> Any:
    return getattr(host.manager.hook, hook)(**arguments)


def _entries(host: Loaded, answer: Iterator[object]) -> Iterator[SessionEntry]:
    """Yield a catalogue's sessions, guarding the plugin's code whenever it runs."""
    for _ in range(SESSIONS_LIMIT):
        try:
            with stdout_to_stderr:
                item = next(answer, _END)
                if item is _END:
                    return
                found = plain_entry(item, host.source.slug)
        except BaseException as error:  # noqa: BLE001
            raise raised(host.source, "host_sessions", "host_sessions", error) from crash(error)
        yield found
    raise HostFailure(f"{host.source} listed more than {SESSIONS_LIMIT:,} sessions")
