"""A tool result as Claude Code's transcript records it, with what could be made of its fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hindnote.core.presentation.fields import (
    content_of,
    image_of,
    mapping_of,
    number_of,
    text_of,
)
from hindnote.core.presentation.models import Text

if TYPE_CHECKING:
    from hindnote.core.presentation.models import Image

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
        block = mapping_of(block)
        self.tool = tool
        self.failed = block.get("is_error") is True
        self.arguments = mapping_of(arguments)
        self.record = mapping_of(record)
        self.text, self.images = content_of(block.get("content"), _image)
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


def _image(block: Mapping[str, Any]) -> Image:
    source = mapping_of(block.get("source"))
    return image_of(source.get("media_type"), source.get("data"))
