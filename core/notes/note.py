"""One note as it was read: its text in parts, its metadata, and texts derived from it.

Pure: nothing here touches a file. A note whose block cannot be read keeps the
block's bytes through everything that leaves its metadata alone.
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
"""Bytes of a note that is read, at most."""

WRITE_LIMIT = 1_000_000
"""Bytes of a note that is written, at most, on every path."""

Origin = Literal["user", "self", "external"]
"""Whose knowledge a note is, as the operations write it; a file may say anything."""

DEFAULT_ORIGIN = "user"
"""Where a note comes from that does not say so: a person put the file there."""

TIMES = ("createdAt", "updatedAt")
ARCHIVED = ("archivedAt", "crumpledAt")
OWNED = frozenset({"origin", *TIMES, *ARCHIVED})
"""Keys that the store owns in every note; a session note's ``project`` besides."""

COUNTS = frozenset({"lastAccessed", "accessCount"})
"""Keys of an earlier tool: left as they are, seeds of the access counts."""

SHOWN_LIMIT = 100
"""Characters of an owned value in a result, at most; what the store writes is shorter."""


class UnreadableMetadata(Exception):
    """The block's metadata cannot be changed; the message says why."""


class Note(Struct, frozen=True, dict=True):
    """One note's text and what it says of itself."""

    parts: Parts | None
    """None when all of the text is body."""

    body: str
    block: FrontmatterBlock | None
    """The readable metadata; None without a block and with one that cannot be read."""

    error: str | None = None
    """Why the block cannot be read; without parts, that it is never closed."""

    @classmethod
    def parse(cls, text: str) -> Note:
        """Return the note of a file's text."""
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
        """Where the note comes from."""
        return _shown(self.values.get("origin")) or DEFAULT_ORIGIN

    @property
    def archived_at(self) -> str | None:
        """When it was archived, as recorded; None while it is live."""
        for key in ARCHIVED:
            if value := self.values.get(key):
                return _shown(value)
        return None

    @property
    def owner(self) -> str | None:
        """The project that a session note was made in; in other notes a foreign value."""
        return _shown(self.values.get("project"))

    @property
    def newline(self) -> str:
        """The line end of the block, or of the body's first line."""
        if self.parts is not None:
            return self.parts.newline
        first = self.body.find("\n")
        return "\r\n" if first > 0 and self.body[first - 1] == "\r" else "\n"

    def time_of(self, key: str) -> int | None:
        """Return a recorded time in milliseconds, or None."""
        return clock.parse_ms(self.values.get(key))

    def foreign(self, *, session: bool) -> dict[str, Json]:
        """Return the values that belong to whoever wrote them, in order.

        Args:
            session: Whether this is a session note, whose ``project`` the store owns.
        """
        hidden = owned_keys(session=session) | COUNTS
        return {key: value for key, value in self.values.items() if key not in hidden}

    def text(self, changes: Mapping[str, str | None], body: str) -> str:
        """Return the file's text with owned keys changed and another body.

        Raises:
            UnreadableMetadata: There are changes, and the block cannot take them.
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
    """Return an owned value as results show it: bounded, whatever a person wrote there."""
    if value is None or value == "":
        return None
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= SHOWN_LIMIT else text[: SHOWN_LIMIT - 1] + "…"


def check_block(text: str, wanted: Mapping[str, Json]) -> None:
    """Check that a new block says what it should.

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
    """Return the version of a file: a short hash of its bytes."""
    return hashlib.sha256(data).hexdigest()[:12]


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
