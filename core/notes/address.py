"""Addresses (the public names of notes), and the homes that contain the notes.

An address is a path, optionally after a reserved head: ``plan.md``, ``@project/plan.md``. Each
head names a home, which is a folder under the notes home. Without a head the address belongs to
the session's notebook.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from hindnote.core.errors import Refused
from hindnote.core.fs.names import invisible, is_reserved
from hindnote.core.places.cwd import no_project
from hindnote.core.text.messages import quote
from hindnote.core.text.slug import is_slug

if TYPE_CHECKING:
    from collections.abc import Callable

    from hindnote.core.plugins.models import Identity

HomeKind = Literal["session", "project", "human", "agents", "models"]

HEADS = ("@project", "@human", "@self", "@model", "@agents", "@models")
SUFFIX = ".md"
PATH_LIMIT = 512
"""Maximum length of a path in UTF-8 bytes, including ``.md``."""

SEGMENT_LIMIT = 240
"""Maximum length of one segment in UTF-8 bytes, including ``.md``."""

_PLAIN = re.compile(r"[A-Za-z0-9_-](?:[A-Za-z0-9_. -]{0,230}[A-Za-z0-9_-])?")
# Not compiled here, since most paths match ``_PLAIN`` and most calls create no note.
_FORBIDDEN = "[\\\\:@\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]"
_FORBIDDEN_WHEN_NEW = r'[<>"|?*]'
_ADVICE = "give a relative path like plans/next.md, with one of these heads or none: " + " ".join(
    f"{head}/" for head in HEADS[:4]
)


class Home(Struct, frozen=True):
    """One folder of notes: the session's notebook, or the home of one head."""

    kind: HomeKind
    prefix: str
    """Prefix of its notes' addresses: empty, or a head and ``/``."""

    folder: tuple[str, ...]
    """Segments under the notes home."""

    writable: bool = True
    owner: str | None = None
    """For a notebook from which a fork inherits: id of its session; else None."""

    created_until: int | None = None
    """Creation time of the latest note that a fork inherits, in milliseconds since the epoch;
    None: a fork inherits all."""

    def passes_on(self, created: int) -> bool:
        """Return whether a fork inherits a note of this notebook that was created at this time."""
        return self.created_until is None or created <= self.created_until

    @property
    def name(self) -> str:
        """Its name in messages."""
        return self.prefix.rstrip("/") or "session"


class Address(Struct, frozen=True):
    """One note's address, validated: NFC, with ``.md``, as results show it."""

    home: Home
    path: tuple[str, ...]

    def __str__(self) -> str:
        """Return the address as text."""
        return self.home.prefix + "/".join(self.path)

    @property
    def segments(self) -> tuple[str, ...]:
        """Path segments of the note's file under the notes home."""
        return (*self.home.folder, *self.path)


class Homes:
    """The homes that one identity can address in one project.

    Args:
        identity: Who is calling.
        project_key: Key of the project that contains the call's directory; None when that
            directory does not exist.
        folder: Returns the path segments of a session's notebook under the notes home.
    """

    def __init__(
        self, identity: Identity, project_key: str | None, folder: Callable[[str], tuple[str, ...]]
    ) -> None:
        self._identity = identity
        self._folder = folder
        self.project_key = project_key
        self.human = Home("human", "@human/", ("human",))
        self.self = Home("agents", "@self/", ("agents", identity.agent))
        self.model = Home("models", "@model/", ("models", identity.model))

    @property
    def project(self) -> Home:
        """The home of the project.

        Raises:
            Refused: ``invalid_cwd``.
        """
        if self.project_key is None:
            raise no_project("give cwd, an existing directory, or use another head than @project/")
        return Home("project", "@project/", ("project", self.project_key))

    @property
    def has_session(self) -> bool:
        """Whether there is a session, which then has a notebook."""
        return bool(self._identity.session_id)

    @cached_property
    def session(self) -> Home:
        """The notebook of the session.

        Raises:
            Refused: ``no_current_session``.
        """
        if not self._identity.session_id:
            raise Refused(
                "no_current_session",
                "there is no current session, so there are no session notes; use an address "
                "with a head, such as @project/",
            )
        return Home("session", "", self._folder(self._identity.session_id))

    @cached_property
    def inherited(self) -> list[Home]:
        """The notebooks from which the session of a fork inherits notes, nearest first."""
        homes, until = [], None
        for ancestor in self._identity.ancestors:
            if ancestor.forked is not None:
                forked = int(ancestor.forked * 1000)
                until = forked if until is None else min(until, forked)
            folder, owner = self._folder(ancestor.session_id), ancestor.session_id
            homes.append(Home("session", "", folder, False, owner, until))
        return homes

    @property
    def notebooks(self) -> list[Home]:
        """The session's notebook, and those from which it inherits.

        Raises:
            Refused: ``no_current_session``.
        """
        return [self.session, *self.inherited]

    def default(self) -> list[Home]:
        """Return the homes that a list covers by default, as far as the call has them."""
        session = self.notebooks if self.has_session else []
        project = [] if self.project_key is None else [self.project]
        return [*session, *project, self.human, self.self, self.model]

    def named(self, kind: Literal["agents", "models"], name: str) -> Home:
        """Return an agent's or a model's home; the caller's own has the short name."""
        current = self.self if kind == "agents" else self.model
        if name == current.folder[1]:
            return current
        return Home(kind, f"@{kind}/{name}/", (kind, name), writable=False)

    def parse(self, text: str) -> Address:
        """Return the parsed address.

        Raises:
            Refused: ``invalid_address``, ``invalid_cwd``, ``no_current_session``.
        """
        home, path = self._split(text)
        segments = unicodedata.normalize("NFC", path).split("/")
        problem = path_problem(segments)
        if problem is None and not segments[-1].endswith(SUFFIX):
            segments[-1] += SUFFIX
            problem = path_problem(segments)
        if problem is not None:
            raise Refused("invalid_address", f"address {quote(text)}: {problem}; {_ADVICE}")
        return Address(home, tuple(segments))

    def _split(self, text: str) -> tuple[Home, str]:
        if not text.startswith("@"):
            # The path is checked first, so a wrong path gets the same error with and without a
            # session.
            problem = path_problem(unicodedata.normalize("NFC", text).split("/"))
            if problem is not None:
                raise Refused("invalid_address", f"address {quote(text)}: {problem}; {_ADVICE}")
            return self.session, text
        head, _, path = text.partition("/")
        if head == "@agents" or head == "@models":
            name, _, path = path.partition("/")
            if not is_slug(name):
                raise Refused(
                    "invalid_address",
                    f"address {quote(text)}: {head}/ is followed by a slug (lower-case letters, "
                    "digits, - _ .) and a path",
                )
            return self.named("agents" if head == "@agents" else "models", name), path
        if head == "@project":
            return self.project, path
        home = {h.name: h for h in (self.human, self.self, self.model)}.get(head)
        if home is None:
            raise Refused(
                "invalid_address",
                f"address {quote(text)}: {quote(head)} is no head; the heads are {' '.join(HEADS)}",
            )
        return home, path


def path_problem(segments: list[str]) -> str | None:
    """Return what is wrong with a path; None when it is valid."""
    for segment in segments:
        problem = segment_problem(segment)
        if problem is not None:
            return problem
    size = sum(len(segment.encode()) for segment in segments) + len(segments) - 1
    if size > PATH_LIMIT:
        return f"the path has {size} UTF-8 bytes, more than {PATH_LIMIT}"
    return None


def segment_problem(segment: str) -> str | None:
    """Return what is wrong with one segment of a path; None when it is valid."""
    if _PLAIN.fullmatch(segment):
        return None
    if not segment:
        return "a segment is empty"
    found = re.search(_FORBIDDEN, segment)
    if found:
        return f"the character {found.group()!a} is not allowed in a path"
    if segment.startswith("."):
        return f"the segment {quote(segment)} starts with a dot"
    if segment.endswith(".") or segment[-1].isspace():
        return f"the segment {quote(segment)} ends in a dot or a blank"
    if len(segment.encode()) > SEGMENT_LIMIT:
        return f"a segment has more than {SEGMENT_LIMIT} UTF-8 bytes"
    return None


def check_new(address: Address) -> None:
    """Refuse a name for a new note that would not work on other systems.

    Raises:
        Refused: ``invalid_address``.
    """
    problem = next(filter(None, map(_problem_when_new, address.path)), None)
    if problem is not None:
        raise Refused("invalid_address", f"address {quote(str(address))}: {problem}")


def _problem_when_new(segment: str) -> str | None:
    found = re.search(_FORBIDDEN_WHEN_NEW, segment)
    if found:
        return f"a new note's name may not hold {found.group()!r}; leave out < > \" | ? *"
    if is_reserved(segment):
        return (
            f"Windows keeps the name {quote(segment.partition('.')[0])} for a device, whatever "
            "follows it; choose another name"
        )
    hidden = invisible(segment)
    if hidden is not None:
        return (
            f"a new note's name may not hold the character U+{ord(hidden):04X}, which shows as "
            "nothing or turns the text around; leave it out"
        )
    return None


def check_writable(address: Address) -> None:
    """Refuse to write to the home of another agent or model.

    Raises:
        Refused: ``read_only_home``.
    """
    if not address.home.writable:
        short = "@self" if address.home.kind == "agents" else "@model"
        raise Refused(
            "read_only_home",
            f"{quote(str(address))} belongs to another "
            f"{'agent' if address.home.kind == 'agents' else 'model'} and can only be read; "
            f"your own home is {short}/",
        )
