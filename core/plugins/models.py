"""The small models that the core and a host plugin exchange.

``HostCall`` is passed to a plugin with every hook; the other models are answers. All are frozen,
reject unknown fields, and are checked when they arrive.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from msgspec import Struct
from pydantic import BaseModel, ConfigDict, Field

from hindnote.core.places.database_home import DatabaseHome


class HookModel(BaseModel):
    """Base of the exchanged models: frozen, unknown fields rejected."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        arbitrary_types_allowed=True,
        defer_build=True,
    )


@runtime_checkable
class LiveEntries(Protocol):
    """Native entries that a host's shim sends when there is no session file."""

    @property
    def generation(self) -> int:
        """Increases by one at each reset, after which entries sent earlier are no longer valid."""
        ...

    @property
    def lines(self) -> list[bytes]:
        """The native entries in append order, one JSON text each, without line end."""
        ...


class HostCall(HookModel):
    """One call as the host's entry script received it."""

    host: str
    """Slug of the host that the call is bound to."""

    session_id: str | None = None
    """The host's own id of the running session; None outside a session."""

    session_file: Path | None = None
    """The running session's file. It need not exist yet."""

    leaf_id: str | None = None
    """The current entry of the live session; None: infer it from the file."""

    call_id: str | None = None
    """The host's id of the tool call that is being handled."""

    agent_id: str | None = None
    """The subagent's own id within the session; None when the main agent calls."""

    cwd: Path
    """The directory in which the host runs, absolute. It may have been deleted meanwhile."""

    config_dir: Path | None = None
    """The host's own configuration directory."""

    model: str | None = None
    """Name of the model that makes the call."""

    agent: str | None = None
    """Name of the agent that makes the call."""

    live: LiveEntries | None = None
    """Entries that the shim sent because the session has no file."""

    extra: dict[str, Any] = Field(default_factory=dict)
    """Data that only this host's plugin understands."""


class Ancestor(HookModel):
    """A session from which another one was forked."""

    session_id: str

    forked: float | None = None
    """Unix time of the fork, in seconds; None when unknown."""


class HostIdentity(HookModel):
    """Who is calling, in the host's own names; the core turns them into slugs."""

    host: str
    """The host's slug: the name of its entry point."""

    session_id: str | None
    """Id of the main session, also for a subagent; None when there is no session."""

    agent: str
    """Name of the agent, for its home ``@self``."""

    model: str
    """Name of the model, for its home ``@model``."""

    tool_prefix: str = ""
    """Prefix of our tools' names as the model sees them."""

    ancestors: tuple[Ancestor, ...] = ()
    """The sessions that a fork descends from, nearest first; empty for a session that is not a
    fork. Their session notes appear in the fork if they were written before it was made."""

    has_unnamed_ancestors: bool = False
    """Whether it is a fork of a session that the host cannot name yet; the boot block then
    mentions possible inherited notes."""


class Decoration(HookModel):
    """Text that a host puts around the rendering of a history operation."""

    prefix: str = ""
    suffix: str = ""

    def wrap(self, rendering: str) -> str:
        """Return the rendering between prefix and suffix."""
        return f"{self.prefix}{rendering}{self.suffix}"


class SessionEntry(HookModel):
    """One session in a host's catalogue: facts about its file, and its first prompt."""

    host: str
    """Slug of the host that wrote the session."""

    id: str
    """The session's id; a subagent's is ``<main session id>/<agent id>``."""

    file: Path
    """The session's file."""

    started: str | None = None
    """ISO 8601 time of its start, as recorded."""

    cwd: str | None = None
    """The working directory that the session recorded."""

    parent: str | None = None
    """Id of the session that it was forked from, or a subagent's main session."""

    name: str | None = None
    """A name that a person gave it."""

    prompt: str | None = None
    """Beginning of its first prompt, on one line, as ``first_words`` returns it; people recognize
    an unnamed session by it. None when it was not found near the beginning of the file."""

    size: int = 0
    """Size of the file in bytes."""

    modified: float = 0.0
    """Modification time of the file, in seconds since the epoch."""

    added_words: tuple[str, ...] | None = None
    """Words that the decoder adds to documents (placeholders such as ``image``), in lower-case
    ASCII. If set, every other letter of a document must occur in the file's JSON strings or keys,
    and joined strings must have a character between them that is not a letter. A search may then
    skip the file by its bytes. None: it always decodes the session."""

    @property
    def canonical(self) -> str:
        """The session's public name, ``<host>:<id>``."""
        return f"{self.host}:{self.id}"


class Identity(Struct, frozen=True):
    """Who is calling, as the core uses it: slugs, and the notes home."""

    home: Path | DatabaseHome
    """The notes home: an absolute folder, or a database."""

    host: str
    session_id: str | None
    agent: str
    """Slug of the agent."""

    model: str
    """Slug of the model."""

    tool_prefix: str = ""
    ancestors: tuple[Ancestor, ...] = ()
    """The sessions that a fork descends from, nearest first."""
    has_unnamed_ancestors: bool = False
    """Whether it is a fork of a session that the host cannot name yet."""
