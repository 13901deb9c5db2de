"""A tool result as Claude Code's transcript records it, with what could be made of its fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hindnote.core.presentation.models import Image, Text
from hindnote.core.text import clean

MCP = "mcp__"
"""How the names of tools begin that an MCP server or a plugin offers: ``mcp__<server>__<tool>``."""


class Result:
    """A tool result. Fields of another type than Claude Code writes count as absent.

    Args:
        block: The ``tool_result`` block of the row.
        record: The row's ``toolUseResult``: what the tool itself recorded of its run.
        tool: Name of the tool.
        arguments: Arguments of the call, when they are known.
    """

    def __init__(self, block: Any, record: Any, tool: str | None, arguments: Any) -> None:
        block = block if isinstance(block, Mapping) else {}
        self.tool = tool
        self.failed = block.get("is_error") is True
        self.arguments: Mapping[str, Any] = arguments if isinstance(arguments, Mapping) else {}
        self.record: Mapping[str, Any] = record if isinstance(record, Mapping) else {}
        self.text, self.images = _content(block.get("content"))
        self.common: dict[str, Any] = {
            "tool": tool,
            "failed": self.failed,
            "images": self.images,
        }

    def argument(self, name: str) -> str | None:
        """Return a text argument of the call."""
        return text_of(self.arguments.get(name))

    def recorded(self, name: str) -> str | None:
        """Return a text that the tool recorded."""
        return text_of(self.record.get(name))

    def count(self, name: str) -> int | None:
        """Return a number that the tool recorded."""
        return number_of(self.record.get(name))

    def plain(self, reason: str) -> Text:
        """Return the result as nothing but its text."""
        return Text(text=self.text, reason=reason, **self.common)


def text_of(value: Any) -> str | None:
    """Return a text; None for anything else."""
    return clean(value) if isinstance(value, str) else None


def number_of(value: Any) -> int | None:
    """Return a whole number; None for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _content(content: Any) -> tuple[str, tuple[Image, ...]]:
    if isinstance(content, str):
        return clean(content), ()
    blocks = [b for b in content if isinstance(b, Mapping)] if isinstance(content, list) else []
    texts = [clean(b["text"]) for b in blocks if isinstance(b.get("text"), str)]
    images = tuple(_image(block) for block in blocks if block.get("type") == "image")
    return "\n".join(texts), images


def _image(block: Mapping[str, Any]) -> Image:
    source = block.get("source")
    source = source if isinstance(source, Mapping) else {}
    data = source.get("data")
    size = len(data.rstrip("=")) * 3 // 4 if isinstance(data, str) else None
    return Image(mime=text_of(source.get("media_type")), size=size)
