"""What the beginning of a file is: frontmatter, readable or not, or body already.

``---`` begins frontmatter, and is a thematic break in Markdown. A block of plain lines is
read by the scan; what it leaves open is decided by the authority, which is imported only
then.
"""

from __future__ import annotations

import re

from msgspec import Struct

from hindnote.core.text.frontmatter import FrontmatterBlock, Parts, divide, opens, scan

_BLANK = re.compile(r"[ \t]*\r?\n")
_DOCUMENT_END = re.compile(r"^\.\.\.[ \t]*\r?$", re.MULTILINE)
"""Ends a block for YAML and for Pandoc, and is no fence here."""


class Head(Struct, frozen=True):
    """What the beginning of a file is: frontmatter, readable or not, or body already."""

    parts: Parts | None = None
    """None when all of the text is body."""

    block: FrontmatterBlock | None = None
    """The metadata; None without a block and with one that cannot be read."""

    error: str | None = None
    """Why the block cannot be read, one line."""

    unclosed: bool = False
    """Whether a block seems to begin and is never closed by ``---``; all is body then."""


UNCLOSED = "line 1: the frontmatter that begins here is never closed by a line ---"


def read_head(text: str) -> Head:
    """Return what the beginning of a text is. Any text can be read."""
    parts = divide(text)
    if parts is None:
        return Head(unclosed=opens(text))
    block = scan(parts.block)
    return Head(parts, block) if block is not None else _by_authority(text, parts)


def _by_authority(text: str, parts: Parts) -> Head:
    """Return a head whose block the quick scan leaves to python-frontmatter and ruamel.yaml."""
    from hindnote.core.text import yaml_authority

    # Before a blank line ``---`` is a thematic break of Markdown, unless it turns out otherwise.
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
