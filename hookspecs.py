"""The contract of a host plugin: its hooks, in the order in which a call uses them.

A plugin is a module, class or instance whose functions are marked with ``@hookimpl``. It is found
through the entry-point group ``hindnote.hosts``; the entry point's name is the host's slug.
``host_base_cwd``, ``host_identity`` and ``host_projection`` are required. A host without
``host_sessions`` has no catalogue, and one without ``host_decoration`` adds no text. Each hook
takes exactly the arguments below.

Hooks are called from several threads at the same time, including the same hook of one plugin, each
time with a different call. While one thread is in ``host_projection``, others may read projections
that it returned earlier: attributes, ``facts`` and ``raw``. A catalogue is iterated by the thread
that requested it. A plugin is imported once, by one thread.

The core copies every answer into plain objects of its own classes. Only a projection is read
again, for its attributes and the content of slots, and each value is checked. Arguments are
copies: changing one has no effect in the core.

A plugin answers with data and cannot change how the core works: it does not see a call's ``cwd``
parameter, registers no operations, and does not edit texts. Loading refuses wrappers,
``tryfirst``, ``trylast``, ``specname``, ``optionalhook``, argument defaults and every public name
of the working-directory logic (``hindnote.core.plugins.rules``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pluggy

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from hindnote.core.history.projection import Projection
    from hindnote.core.plugins.models import Decoration, HostCall, HostIdentity, SessionEntry

PROJECT_NAME = "hindnote"

hookspec = pluggy.HookspecMarker(PROJECT_NAME)
hookimpl = pluggy.HookimplMarker(PROJECT_NAME)

# -- in every call -------------------------------------------------------------


@hookspec(firstresult=True)
def host_base_cwd(call: HostCall) -> Path | None:
    """Return the directory to which this call's relative paths are relative.

    Called once for each call, only in the plugin to which the call is bound. The call's own
    ``cwd`` parameter is never passed, since only the core resolves it. The answer must be the same
    on a second call.

    Args:
        call: The call as the host's entry script received it.

    Returns:
        An absolute directory, even if it was deleted since the session began: the core then
        refuses operations that need it. ``None`` is a host failure, since the call belongs to this
        plugin. Must not create the directory.
    """


@hookspec(firstresult=True)
def host_identity(call: HostCall) -> HostIdentity | None:
    """Return who is calling, in the host's own names.

    Called once for each call, after ``host_base_cwd``, only in the call's own plugin. The core
    converts the names to slugs. For a subagent's call the session is the main session, whose
    notebook the subagent shares.

    Args:
        call: The call as the host's entry script received it.

    Returns:
        The identity; its ``host`` is the plugin's own slug. ``None`` is a host failure. If the
        call has a session file but no session id, the id is read from the beginning of that file;
        nothing else of the session is read.
    """


# -- for history ---------------------------------------------------------------


@hookspec(firstresult=True)
def host_projection(call: HostCall, session: SessionEntry | None) -> Projection | None:
    """Return one native session, decoded lazily.

    Called for the current session in the call's own plugin, or for a session from the catalogue in
    the plugin that listed it. May be called often; a plugin should cache what it decoded, and
    extend it when the file only grew.

    Args:
        call: The call; it may be bound to another host when ``session`` is given.
        session: An entry from this plugin's ``host_sessions``, or ``None`` for the current session
            of the call (for a subagent's call, the subagent's own session).

    Returns:
        The projection, or ``None`` when the session does not exist yet.

    Raises:
        Refused: ``unreadable_session``, with the reason, when the file exists but is not a session
            of this host.
    """


@hookspec
def host_sessions(call: HostCall) -> Iterable[SessionEntry]:  # type: ignore[empty-body]
    """Return the catalogue of this host's sessions, newest first.

    Called in each plugin separately, when a call selects another session. For a call bound to
    another host, use the defaults of the environment.

    Args:
        call: The call; its ``host`` may be another host.

    Returns:
        Facts about the session files, each equal to that in the projection's header. Must not
        decode sessions, and must not raise an error for an unreadable one.
    """


# -- for the answer ------------------------------------------------------------


@hookspec(firstresult=True)
def host_decoration(operation: str) -> Decoration | None:
    """Return the host's text around the rendering of a history operation.

    Called once for each call of a history operation, in the call's own plugin. The core counts its
    bytes when it selects rows, and puts it around a successful result.

    Args:
        operation: Name of the operation, ``history_list`` or ``history_read``.

    Returns:
        Prefix and suffix, or ``None`` for no text. Must be the same every time.
    """
