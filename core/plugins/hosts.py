"""The loaded host plugins: the one typed front door to what they answer.

Nothing else calls a hook. Plugins come from the entry-point group
``hindnote.hosts``, the two built-in hosts like any other; one that breaks the
contract is refused as a whole and listed with its reason, and the others are
served. A plugin is imported when it is first asked, so that a call in one host's
process does not pay for the others.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from hindnote.core.calls import Decoration, HostIdentity, SessionEntry
from hindnote.core.failures import HostFailure
from hindnote.core.outcome import Refused
from hindnote.core.plugins.loading import HostReport, Loaded, Loader
from hindnote.core.shortage import is_shortage, refusal
from hindnote.core.text import clean

if TYPE_CHECKING:
    from hindnote.core.calls import HostCall
    from hindnote.core.history.projection import Projection

_PROJECTION = ("last_seq", "branch", "damaged", "windows", "facts")

REFUSALS = {"host_projection": "unreadable_session"}
"""The code with which a hook may refuse, for the hooks that may."""

A = TypeVar("A")


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

    # -- once for every call ---------------------------------------------------

    def base_cwd(self, call: HostCall) -> Path:
        """Return the absolute directory from which the call's paths start.

        It may have been deleted since the session began; what needs it is refused later.
        """
        host = self._loader.host(call.host)
        answer = _instance(host, "host_base_cwd", _ask(host, "host_base_cwd", call=call), Path)
        if not answer.is_absolute() or "\0" in str(answer):
            raise HostFailure(
                f"{host.source} answered host_base_cwd with {str(answer)!r}, "
                "which is not an absolute path"
            )
        return answer

    def identity(self, call: HostCall) -> HostIdentity:
        """Return who is asking, in the host's own names."""
        host = self._loader.host(call.host)
        answer = _instance(
            host, "host_identity", _ask(host, "host_identity", call=call), HostIdentity
        )
        if answer.host != host.source.slug:
            raise HostFailure(
                f"{host.source} answered host_identity for a host {answer.host!r}, not for its own"
            )
        named = answer.session_id
        if named is not None and (not named or clean(named) != named):
            raise HostFailure(
                f"{host.source} answered host_identity with the session id {named!r}; "
                "an id is not empty and holds no lone surrogate, and None says that there is none"
            )
        return answer

    def decoration(self, call: HostCall, operation: str) -> Decoration:
        """Return the host's own text around a history operation, empty when it has none."""
        host = self._loader.host(call.host)
        answer = _ask(host, "host_decoration", operation=operation)
        if answer is None:
            return Decoration()
        told = _instance(host, "host_decoration", answer, Decoration)
        return Decoration(prefix=clean(told.prefix), suffix=clean(told.suffix))

    # -- when history is asked for ---------------------------------------------

    def current(self, call: HostCall) -> Projection | None:
        """Return the call's own session, or None when there is none yet."""
        return self._projection(call, call.host, None)

    def lists_sessions(self, host: str) -> bool:
        """Return whether a host's plugin has a catalogue of sessions, be it empty."""
        return bool(self._loader.host(host).manager.hook.host_sessions.get_hookimpls())

    def sessions(self, call: HostCall, host: str) -> Iterator[SessionEntry]:
        """Return one host's catalogue, newest first; empty when the host keeps none."""
        asked = self._loader.host(host)
        answers = _ask(asked, "host_sessions", call=call)
        return _entries(asked, next(iter(answers), None))

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
        answer = _ask(host, "host_projection", call=call, session=session)
        if answer is None:
            return None
        # A call that asks for no history has no use for its model.
        from hindnote.core.history.projection import SessionHeader

        header = _instance(
            host, "host_projection", getattr(answer, "header", None), SessionHeader, "header"
        )
        if header.host != slug:
            raise HostFailure(
                f"{host.source} answered host_projection with a session of {header.host!r}"
            )
        # Looked up without running anything: a projection decodes on demand.
        missing = [name for name in _PROJECTION if not _has(answer, name)]
        if missing:
            raise HostFailure(
                f"{host.source} answered host_projection with {type(answer).__name__!r}, "
                f"which is no projection: it lacks {', '.join(missing)}"
            )
        projection: Projection = answer
        return projection


def _ask(host: Loaded, hook: str, **arguments: Any) -> Any:
    with _answering(host, hook):
        return getattr(host.manager.hook, hook)(**arguments)


@contextmanager
def _answering(host: Loaded, hook: str) -> Iterator[None]:
    """Turn what a hook raises, and is not to raise, into a ``HostFailure`` that names it."""
    try:
        yield
    except HostFailure:
        raise
    except Refused as refused:
        _may_refuse(host, hook, refused)
        raise
    except (Exception, SystemExit) as error:
        if is_shortage(error):
            # No plugin is to blame for what this process lacks.
            raise refusal(error) from error
        raise HostFailure(f"{host.source} failed in {hook} with {type(error).__name__}") from error


def _may_refuse(host: Loaded, hook: str, refused: Refused) -> None:
    """Raise ``HostFailure`` for a refusal that a hook does not have."""
    allowed, code = REFUSALS.get(hook), refused.refusal.code
    if code == allowed:
        return
    may = f"only {allowed!r}" if allowed else "nothing"
    raise HostFailure(
        f"{host.source} refused {hook} with {code!r}, and may refuse {may} there"
    ) from refused


def _instance(host: Loaded, hook: str, answer: object, kind: type[A], part: str = "") -> A:
    if isinstance(answer, kind):
        return answer
    found = "None" if answer is None else f"a {type(answer).__name__!r}"
    where = f"{hook}, {part}," if part else hook
    raise HostFailure(f"{host.source} answered {where} with {found}, not a {kind.__name__}")


def _has(answer: object, name: str) -> bool:
    missing = object()
    return inspect.getattr_static(answer, name, missing) is not missing


def _entries(host: Loaded, answer: Iterable[object] | None) -> Iterator[SessionEntry]:
    if answer is None:
        return
    with _answering(host, "host_sessions"):
        for item in answer:
            entry = _instance(host, "host_sessions", item, SessionEntry)
            if entry.host != host.source.slug:
                raise HostFailure(f"{host.source} listed a session of {entry.host!r}")
            if not entry.id.isascii() and (named := clean(entry.id)) != entry.id:
                # It was made from the name of a file, which may be no text.
                entry = entry.model_copy(update={"id": named})
            yield entry
