"""Tell whether a file begins with frontmatter, and parse it.

``---`` begins frontmatter, but is also a thematic break in Markdown. A simple block is parsed by
``frontmatter.scan``; the rest is decided by the YAML parser, which is imported only then.
"""

from __future__ import annotations

import re

from msgspec import Struct

from hindnote.core.text.frontmatter import FrontmatterBlock, Parts, divide, opens, scan

_BLANK = re.compile(r"[ \t]*\r?\n")
_DOCUMENT_END = re.compile(r"^\.\.\.[ \t]*\r?$", re.MULTILINE)
"""Ends a block in YAML and in Pandoc, but is not accepted as a fence here."""


class Head(Struct, frozen=True):
    """The beginning of a file: readable frontmatter, unreadable frontmatter, or none."""

    parts: Parts | None = None
    """None when the whole text is body."""

    block: FrontmatterBlock | None = None
    """The metadata; None without a block, and for a block that cannot be parsed."""

    error: str | None = None
    """Why the block cannot be parsed, as one line."""

    unclosed: bool = False
    """Whether a block seems to begin but is never closed by ``---``; then the whole text is
    body."""


UNCLOSED = "line 1: the frontmatter that begins here is never closed by a line ---"


def read_head(text: str) -> Head:
    """Return how a text begins. Never fails."""
    parts = divide(text)
    if parts is None:
        return Head(unclosed=opens(text))
    block = scan(parts.block)
    return Head(parts, block) if block is not None else _by_authority(text, parts)


def _by_authority(text: str, parts: Parts) -> Head:
    """Parse a block that ``scan`` cannot, with python-frontmatter and ruamel.yaml."""
    from hindnote.core.text import yaml_authority

    # ``---`` before a blank line is a thematic break, unless the block parses as a mapping.
    blank = _BLANK.match(parts.block) is not None
    if not blank and _DOCUMENT_END.search(parts.block):
        return Head(unclosed=True)
    handler = yaml_authority.NoteHandler()
    written, _ = handler.split(text)
    try:
        handler.load(written)
    except yaml_authority.RepeatedKey as error:
        return Head(parts, error=str(error))
    except yaml_authority.NoMapping:
        return Head()
    except yaml_authority.InvalidBlock as error:
        return Head() if blank else Head(parts, error=str(error))
    return Head(parts, handler.block)
