"""One note in memory: its text in parts, its metadata, and texts derived from it.

Nothing here touches a file. If a note's block cannot be parsed, every operation that does not
change metadata keeps the block's bytes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import cached_property
from typing import Literal

from msgspec import Struct

from hindnote.core.errors import Refused
from hindnote.core.notes import clock
from hindnote.core.text import frontmatter
from hindnote.core.text.frontmatter import FrontmatterBlock, Json, Parts
from hindnote.core.text.head import UNCLOSED, read_head

READ_LIMIT = 16 * 1024 * 1024
"""Maximum size in bytes of a note that is read."""

WRITE_LIMIT = 1_000_000
"""Maximum size in bytes of a note that is written by any operation."""

Origin = Literal["user", "self", "external"]
"""Whose knowledge a note contains, as the operations write it; a file may have any value."""

DEFAULT_ORIGIN = "user"
"""Origin of a note that does not record one: a person created the file."""

TIMES = ("createdAt", "updatedAt")
ARCHIVED = ("archivedAt", "crumpledAt")
OWNED = frozenset({"origin", *TIMES, *ARCHIVED})
"""Keys that the store owns in every note; in a session note it also owns ``project``."""

COUNTS = frozenset({"lastAccessed", "accessCount"})
"""Keys written by an earlier tool: kept as they are, and used as initial read counts."""

SHOWN_LIMIT = 100
"""Maximum length of an owned value in a result; values that the store writes are shorter."""


class UnreadableMetadata(Exception):
    """The metadata block cannot be edited; the message says why."""


class Note(Struct, frozen=True, dict=True):
    """The text of one note, and its metadata."""

    parts: Parts | None
    """None when the whole text is body."""

    body: str
    block: FrontmatterBlock | None
    """The parsed metadata; None without a block, and for a block that cannot be parsed."""

    error: str | None = None
    """Why the block cannot be parsed; with ``parts`` None, that its closing fence is missing."""

    @classmethod
    def parse(cls, text: str) -> Note:
        """Return the note parsed from a file's text."""
        head = read_head(text)
        if head.parts is None:
            error = UNCLOSED if head.unclosed else None
            return cls(None, text, None, error)
        return cls(head.parts, head.parts.body, head.block, head.error)

    @cached_property
    def values(self) -> Mapping[str, Json]:
        """Values of the metadata by key."""
        return {} if self.block is None else self.block.values()

    @property
    def origin(self) -> str:
        """The recorded origin, or the default."""
        return _shown(self.values.get("origin")) or DEFAULT_ORIGIN

    @property
    def archived_at(self) -> str | None:
        """The recorded time of archiving; None for an unarchived note."""
        for key in ARCHIVED:
            if value := self.values.get(key):
                return _shown(value)
        return None

    @property
    def owner(self) -> str | None:
        """The project in which a session note was created; in other notes the key is not ours."""
        return _shown(self.values.get("project"))

    @property
    def newline(self) -> str:
        """The line end of the block, or of the body's first line."""
        if self.parts is not None:
            return self.parts.newline
        first = self.body.find("\n")
        return "\r\n" if first > 0 and self.body[first - 1] == "\r" else "\n"

    def time_of(self, key: str) -> int | None:
        """Return a recorded time in milliseconds since the epoch; None when missing or invalid."""
        return clock.parse_ms(self.values.get(key))

    def foreign(self, *, session: bool) -> dict[str, Json]:
        """Return the values of keys that the store does not own, in order.

        Args:
            session: Whether this is a session note, in which the store owns ``project``.
        """
        hidden = owned_keys(session=session) | COUNTS
        return {key: value for key, value in self.values.items() if key not in hidden}

    def text(self, changes: Mapping[str, str | None], body: str) -> str:
        """Return the file's text with owned keys changed and a new body.

        Raises:
            UnreadableMetadata: There are changes, but the block cannot be edited.
        """
        if self.parts is None:
            if self.error is not None:
                return self._unclosed(changes, body)
            block = frontmatter.edited(FrontmatterBlock("", ()), changes, self.newline)
            fence = f"---{self.newline}"
            return f"{fence}{block}{fence}{body}" if block else body
        block = self._edited(changes) if changes else self.parts.block
        closing = self.parts.closing
        if body and not closing.endswith("\n"):
            closing += self.newline
        return f"{self.parts.opening}{block}{closing}{body}"

    def _unclosed(self, changes: Mapping[str, str | None], body: str) -> str:
        if changes:
            raise UnreadableMetadata(self.error)
        return body

    def _edited(self, changes: Mapping[str, str | None]) -> str:
        if self.block is None:
            raise UnreadableMetadata(self.error or "the block cannot be read")
        if not self.block.editable:
            raise UnreadableMetadata("the block is a mapping in braces")
        text = frontmatter.edited(self.block, changes, self.newline)
        wanted = {key: value for key, value in self.values.items() if key not in changes}
        wanted |= {key: value for key, value in changes.items() if value is not None}
        check_block(text, wanted)
        return text


def _shown(value: Json) -> str | None:
    """Return an owned value as results show it, shortened if a person wrote a long one."""
    if value is None or value == "":
        return None
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= SHOWN_LIMIT else text[: SHOWN_LIMIT - 1] + "…"


def check_block(text: str, wanted: Mapping[str, Json]) -> None:
    """Check that a new block parses to the intended values.

    Raises:
        UnreadableMetadata: It does not.
    """
    made = Note.parse(f"---\n{text}---\n")
    if made.block is None or dict(made.values) != dict(wanted):
        raise UnreadableMetadata("its keys cannot be edited without changing other ones")


def owned_keys(*, session: bool) -> frozenset[str]:
    """Return the keys that the store owns in a note of this kind."""
    return OWNED | {"project"} if session else OWNED


def version_of(data: bytes) -> str:
    """Return the version of a file: the first digits of the SHA-256 of its bytes."""
    return hashlib.sha256(data).hexdigest()[:12]


def body_of(text: str) -> str:
    """Return the body of a note's text, without parsing metadata as long as they are plain."""
    fences = frontmatter.fences(text)
    if fences is None:
        return text
    start, end, body = fences
    plain = frontmatter.glance(text[start:end]) is not None
    return text[body:] if plain else Note.parse(text).body


def decode(data: bytes, shown: str) -> str:
    """Return a file's text.

    Raises:
        Refused: ``not_text``.
    """
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise Refused(
            "not_text", f"{shown} is not UTF-8 text (byte {error.start} of {len(data)})"
        ) from None


def encode(text: str, shown: str) -> bytes:
    """Return the bytes to write.

    Raises:
        Refused: ``too_large``.
    """
    data = text.encode()
    if len(data) > WRITE_LIMIT:
        raise Refused(
            "too_large",
            f"{shown} would have {len(data):,} bytes, more than the {WRITE_LIMIT:,} that a note "
            "may have; split it into several notes",
        )
    return data
