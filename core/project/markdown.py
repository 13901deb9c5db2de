"""Parse a Markdown file: frontmatter as JSON, body, and problems."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hindnote.core.text.frontmatter import FrontmatterBlock, Json, Parts
from hindnote.core.text.head import UNCLOSED, read_head


@dataclass(frozen=True, slots=True)
class Markdown:
    """One parsed file."""

    text: str
    body: str
    parts: Parts | None = None
    """Set when the file has a frontmatter block, readable or not."""

    block: FrontmatterBlock | None = None
    values: Mapping[str, Json] = field(default_factory=dict)
    problem: str | None = None
    """Why the frontmatter cannot be parsed, as one line."""


def parse_markdown(text: str) -> Markdown:
    """Return a parsed text. Never fails."""
    head = read_head(text)
    if head.parts is None:
        problem = UNCLOSED if head.unclosed else None
        return Markdown(text, text, problem=problem)
    if head.block is None:
        return Markdown(text, head.parts.body, head.parts, problem=head.error)
    return Markdown(text, head.parts.body, head.parts, head.block, head.block.values())


def decode(content: bytes) -> str | None:
    """Return bytes as text; None when they are not UTF-8."""
    try:
        return content.decode()
    except UnicodeDecodeError:
        return None


def shown(value: Any) -> str | None:
    """Return a scalar as text; None for any other value."""
    if isinstance(value, str):
        return value
    return None if isinstance(value, list | dict) else json.dumps(value)
