"""The small models that cross the border between the core and a host plugin.

``HostCall`` goes to a plugin with every question; the other models are answers.
All are frozen, closed and checked when they arrive.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from msgspec import Struct
from pydantic import BaseModel, ConfigDict, Field


class HookModel(BaseModel):
    """Base for what crosses the border: frozen, unknown fields refused."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        arbitrary_types_allowed=True,
        defer_build=True,
    )


@runtime_checkable
class LiveEntries(Protocol):
    """Native entries that a host's shim sent because there is no session file."""

    @property
    def generation(self) -> int:
        """Grows by one at each reset: the entries seen before are no longer valid."""
        ...

    @property
    def lines(self) -> list[bytes]:
        """The native entries in append order, one JSON text each, no line end."""
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
    """The entry at which the live session stands; None: infer it from the file."""

    call_id: str | None = None
    """The host's id of the tool call that is being answered."""

    agent_id: str | None = None
    """Set when a subagent asks: its own id within the session."""

    cwd: Path
    """The directory in which the host runs, absolute. It may have been deleted meanwhile."""

    config_dir: Path | None = None
    """The host's own configuration directory."""

    model: str | None = None
    """Name of the model that asks."""

    agent: str | None = None
    """Name of the agent that asks."""

    live: LiveEntries | None = None
    """Entries sent by the shim because the session has no file."""

    extra: dict[str, Any] = Field(default_factory=dict)
    """What only that host understands."""


class Ancestor(HookModel):
    """A session from which another one was forked."""

    session_id: str

    forked: float | None = None
    """Seconds since the epoch at which it was forked; None when that is not known."""


class HostIdentity(HookModel):
    """Who is asking, in the host's own names; the core turns them into slugs."""

    host: str
    """The host's slug: the name of its entry point."""

    session_id: str | None
    """The main session's id, a subagent's too; None when there is no session."""

    agent: str
    """Name of the agent, for its home ``@self``."""

    model: str
    """Name of the model, for its home ``@model``."""

    tool_prefix: str = ""
    """What stands before our tools' names as the model sees them."""

    ancestors: tuple[Ancestor, ...] = ()
    """The sessions that a fork descends from, the nearest first: their session notes show in
    the fork as far as they were made before it. Empty for a session that is no fork."""

    has_unnamed_ancestors: bool = False
    """Whether it is a fork, and the host cannot say yet of which session; the boot block then
    says that there may be inherited notes."""


class Decoration(HookModel):
    """A host's own text around the rendering of a history operation, as data."""

    prefix: str = ""
    suffix: str = ""

    def wrap(self, rendering: str) -> str:
        """Return the rendering between prefix and suffix."""
        return f"{self.prefix}{rendering}{self.suffix}"


class SessionEntry(HookModel):
    """One session in a host's catalogue: facts about its file, and how it begins."""

    host: str
    """Slug of the host that wrote the session."""

    id: str
    """The session's id; a subagent's is ``<main session id>/<agent id>``."""

    file: Path
    """Where the session lies."""

    started: str | None = None
    """ISO 8601 time at which it was started, as recorded."""

    cwd: str | None = None
    """The directory that the session recorded."""

    parent: str | None = None
    """Id of the session that it was forked from, or a subagent's main session."""

    name: str | None = None
    """A name that the person gave it."""

    prompt: str | None = None
    """How the first prompt in the file begins, on one line: what ``first_words`` makes of it.
    People know a session without a name by it; None where it is not found at once."""

    size: int = 0
    """Bytes of the file."""

    modified: float = 0.0
    """Seconds since the epoch at which the file last changed."""

    added_words: tuple[str, ...] | None = None
    """A promise that lets a search rule the session out by its file's bytes alone: documents
    hold no letters but those of the file's JSON strings and keys and these words (lower-case
    ASCII: placeholders of images and the like), and what is joined has something that is no
    letter between. None promises nothing, and a search decodes the session."""

    @property
    def canonical(self) -> str:
        """The session's public name, ``<host>:<id>``."""
        return f"{self.host}:{self.id}"


class Identity(Struct, frozen=True):
    """Who is asking, as the core uses it: slugs, and the notes home."""

    home: Path
    """The notes home, absolute."""

    host: str
    session_id: str | None
    agent: str
    """Slug of the agent."""

    model: str
    """Slug of the model."""

    tool_prefix: str = ""
    ancestors: tuple[Ancestor, ...] = ()
    """The sessions that a fork descends from, the nearest first."""
    has_unnamed_ancestors: bool = False
    """Whether it is a fork of a session that the host cannot name yet."""
