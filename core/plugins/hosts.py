"""The loaded host plugins: the one typed front door to what they answer.

Nothing else calls a hook. Plugins come from the entry-point group
``hindnote.hosts``, the two built-in hosts like any other; one that breaks the
contract is refused as a whole and listed with its reason, and the others are
served. A plugin is imported when it is first asked, so that a call in one host's
process does not pay for the others.
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
"""Sessions of one catalogue, at most: a generator may have no end."""

_END = object()


class Hosts:
    """The host plugins of one process. Safe to use from several threads.

    Made by ``Hosts.load`` or ``Hosts.of``. Every method that asks a plugin raises
    ``HostFailure`` when the host is not installed or was refused, when the plugin
    crashes, and when its answer is not what the contract says.
    """

    def __init__(self, loader: Loader) -> None:
        self._loader = loader

    @classmethod
    def load(cls, own: Mapping[str, object] | None = None) -> Hosts:
        """Return the installed hosts.

        Entry points are looked up when a host is asked for that is not loaded yet,
        and each plugin is imported when it is first needed.

        Args:
            own: Plugins that the running process holds anyway, by slug: a host's
                helper gives its own, and a notes call looks for no other.

        Raises:
            PluginRefused: A plugin in ``own`` breaks the contract.
        """
        return cls(Loader(own or {}, discover=True))

    @classmethod
    def of(cls, plugins: Mapping[str, object]) -> Hosts:
        """Return exactly these plugins, by slug, for tests and embedders.

        Raises:
            PluginRefused: A plugin breaks the contract.
        """
        return cls(Loader(plugins, discover=False))

    # -- what is there ---------------------------------------------------------

    def slugs(self) -> tuple[str, ...]:
        """Return the slugs of all hosts that can be asked, sorted. Imports all of them."""
        return self._loader.slugs()

    def report(self) -> list[HostReport]:
        """Return every installed plugin, the refused ones with their reason."""
        return self._loader.report()

    def not_loaded(self) -> dict[str, HostFailure]:
        """Return why each installed plugin that was refused cannot be asked, by what names it.

        The key is the plugin's slug, or slug and distribution where another plugin has the slug.
        """
        return self._loader.not_loaded()

    # -- once for every call ---------------------------------------------------

    def base_cwd(self, call: HostCall) -> Path:
        """Return the absolute directory from which the call's paths start.

        It may have been deleted since the session began; what needs it is refused later.
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
        """Return who is asking, in the host's own names."""
        host = self._loader.host(_slug(call))
        with answering(host.source, "host_identity"):
            answer = _ask(host, "host_identity", call=plain_call(call))
            return plain_identity(answer, host.source.slug)

    def decoration(self, call: HostCall, operation: str) -> Decoration:
        """Return the host's own text around a history operation, empty when it has none."""
        host = self._loader.host(_slug(call))
        with answering(host.source, "host_decoration"):
            answer = _ask(host, "host_decoration", operation=operation)
            return Decoration() if answer is None else plain_decoration(answer)

    # -- when history is asked for ---------------------------------------------

    def current(self, call: HostCall) -> Projection | None:
        """Return the call's own session, or None when there is none yet."""
        return self._projection(call, _slug(call), None)

    def lists_sessions(self, host: str) -> bool:
        """Return whether a host's plugin has a catalogue of sessions, be it empty."""
        return bool(self._loader.host(host).manager.hook.host_sessions.get_hookimpls())

    def sessions(self, call: HostCall, host: str) -> Iterator[SessionEntry]:
        """Return one host's catalogue, newest first; empty when the host keeps none."""
        asked = self._loader.host(host)
        with answering(asked.source, "host_sessions"):
            answers = _ask(asked, "host_sessions", call=plain_call(call))
            answer = next(iter(answers), None)
            listed = iter(() if answer is None else answer)
        return _entries(asked, listed)

    def open(self, call: HostCall, session: SessionEntry) -> Projection | None:
        """Return a session from a catalogue; None when it is no longer there.

        Raises:
            Refused: ``unreadable_session``.
        """
        return self._projection(call, session.host, session)

    def _projection(
        self, call: HostCall, slug: str, session: SessionEntry | None
    ) -> Projection | None:
        host = self._loader.host(slug)
        with answering(host.source, "host_projection"):
            # The plugin gets copies: what it does to them changes nothing in the core.
            given = None if session is None else plain_entry(session, slug, for_plugin=True)
            answer = _ask(host, "host_projection", call=plain_call(call), session=given)
        if answer is None:
            return None
        # A call that asks for no history has no use for its models.
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
    """Yield a catalogue's sessions; the plugin's code runs only while the next one is asked for."""
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
