"""The Pi plugin: implements the hooks of the host contract."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hindnote.core.history.times import known_instant
from hindnote.core.plugins.models import Ancestor, Decoration, HostCall, HostIdentity, SessionEntry
from hindnote.hookspecs import hookimpl
from hindnote.hosts.pi.format.header import Header, ancestors, read_header
from hindnote.hosts.pi.sessions.catalogue import FORM, Catalogue, places
from hindnote.hosts.pi.sessions.projection import HOST, Sessions

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from hindnote.core.history.metadata_cache import FileFacts
    from hindnote.core.history.projection import Projection

_sessions = Sessions()


def _remembered() -> FileFacts:
    from hindnote.core.history.metadata_cache import FileFacts

    return FileFacts(FORM)


_catalogue = Catalogue(_remembered)


@hookimpl
def host_base_cwd(call: HostCall) -> Path | None:
    return call.cwd


@hookimpl
def host_identity(call: HostCall) -> HostIdentity | None:
    file = call.cwd / call.session_file if call.session_file is not None else None
    session_id = call.session_id
    if "parent_session" in call.extra:
        # Sent by the extension, which knows the header before it is written.
        header = _header(call) if session_id else None
    else:
        header = None if file is None else read_header(file)
        session_id = header.id if session_id is None and header else session_id
    return HostIdentity(
        host=HOST,
        session_id=session_id,
        agent=call.agent or "root",
        model=call.model or "default",
        # A header's path may be relative to the session file; without a file, the cwd is the base.
        ancestors=tuple(_ancestors(file or call.cwd / "session.jsonl", header)),
    )


def _header(call: HostCall) -> Header:
    parent, started = call.extra["parent_session"], call.extra.get("started")
    return Header(call.session_id or "", timestamp=started, parent=parent)


def _ancestors(file: Path, header: Header | None) -> Iterator[Ancestor]:
    for session_id, forked in ancestors(file, header):
        yield Ancestor(session_id=session_id, forked=known_instant(forked))


@hookimpl
def host_projection(call: HostCall, session: SessionEntry | None) -> Projection | None:
    ours = call.host == HOST
    # A relative session directory results in a relative file.
    file = call.cwd / call.session_file if ours and call.session_file else None
    if session is not None:
        # The running session is read at its current leaf, under whatever id it was selected.
        running = file is not None and session.file == file
        leaf = call.leaf_id if running else None
        return _sessions.of_file(session.file, leaf, running=running)
    if not ours:
        return None
    if file is not None and (call.live is None or file.exists()):
        return _sessions.of_file(file, call.leaf_id, running=True)
    if call.live is None:
        return None
    return _sessions.of_live(call.live, call.session_id or "live", call.leaf_id)


@hookimpl
def host_sessions(call: HostCall) -> Iterable[SessionEntry]:
    return _catalogue.sessions(places(call))


@hookimpl
def host_decoration(operation: str) -> Decoration | None:
    return None
