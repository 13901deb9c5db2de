"""The contract of a host plugin, in the order in which a call meets it.

A plugin is a module, class or instance whose functions carry ``@hookimpl``. It is
found through the entry-point group ``hindnote.hosts``; the entry point's name is
the host's slug. ``host_base_cwd``, ``host_identity`` and ``host_projection`` are
required; a host without ``host_sessions`` has no catalogue, one without
``host_decoration`` adds no text. Each hook takes exactly the arguments below.

Hooks are called from several threads at the same time, also the same hook of one plugin,
each time with a call of its own. While one thread is in ``host_projection``, others may
read projections that it returned before: attributes, ``facts`` and ``raw``. A catalogue is
iterated by the thread that asked for it. A plugin is imported once, by one thread.

What a hook returns is rebuilt as plain data of the core's own classes. Only a projection
is asked again, for its attributes and the facts of slots, and each answer is checked.
Arguments are copies: changing one changes nothing in the core.

A plugin answers questions with data and never gets the machinery: it does not see
a call's ``cwd`` parameter, registers no operation, and touches no text. Wrappers,
``tryfirst``, ``trylast``, ``specname``, ``optionalhook``, argument defaults and
every public name of the working-directory logic are refused while loading
(``hindnote.core.plugins.rules``).
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

# -- once for every call -------------------------------------------------------


@hookspec(firstresult=True)
def host_base_cwd(call: HostCall) -> Path | None:
    """Return the directory from which this call's relative paths start.

    Asked once for each call, of the plugin that the call is bound to and of no
    other. The call's own ``cwd`` parameter is never shown: the core alone
    resolves it. The answer must be the same when asked twice for one call.

    Args:
        call: The call as the host's entry script received it.

    Returns:
        An absolute directory, also when it was deleted since the session began:
        the core then refuses what needs it. ``None`` is a host failure here, since
        the call belongs to this plugin. Must not create the directory.
    """


@hookspec(firstresult=True)
def host_identity(call: HostCall) -> HostIdentity | None:
    """Return who is asking, in the host's own names.

    Asked once for each call, after ``host_base_cwd``, of the call's own plugin
    alone. The core makes slugs of the names. For a subagent's call the session
    is the main session, whose notebook the subagent shares.

    Args:
        call: The call as the host's entry script received it.

    Returns:
        The identity; its ``host`` is the plugin's own slug. ``None`` is a host
        failure. When the call names a session file and no session id, the id
        comes from the head of that file; nothing else of the session is read.
    """


# -- when history is asked for -------------------------------------------------


@hookspec(firstresult=True)
def host_projection(call: HostCall, session: SessionEntry | None) -> Projection | None:
    """Return one native session, decoded lazily.

    Asked for the current session, of the call's own plugin, or for a session
    from the catalogue, of the plugin that listed it. May be asked often; a
    plugin should keep what it decoded and extend it when the file only grew.

    Args:
        call: The call; it may be bound to another host when ``session`` is given.
        session: An entry that this plugin's ``host_sessions`` listed, or ``None``
            for the current session of the call (a subagent's own, for its call).

    Returns:
        The projection, or ``None`` when there is no such session yet.

    Raises:
        Refused: ``unreadable_session``, with the reason, when the file is there
            but is no session of this host.
    """


@hookspec
def host_sessions(call: HostCall) -> Iterable[SessionEntry]:  # type: ignore[empty-body]
    """Return the catalogue of this host's sessions, newest first.

    Asked plugin by plugin, each on its own, when a call names another session.
    For a call bound to another host, fall back on the environment's defaults.

    Args:
        call: The call; its ``host`` may be another one.

    Returns:
        Facts about files, each the same as in the header of the projection. Must not
        decode sessions, and must not raise for one that cannot be read.
    """


# -- when a text is delivered --------------------------------------------------


@hookspec(firstresult=True)
def host_decoration(operation: str) -> Decoration | None:
    """Return the host's own text around a history operation's rendering.

    Asked once for each call of a history operation, of the call's own plugin.
    The core counts its bytes while it selects and puts it around a success.

    Args:
        operation: Name of the operation, ``history_list`` or ``history_read``.

    Returns:
        Prefix and suffix, or ``None`` for no text. Must be the same every time.
    """
