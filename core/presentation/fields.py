"""Read fields of records whose types are not guaranteed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hindnote.core.presentation.models import Image
from hindnote.core.text import clean


def text_of(value: Any) -> str | None:
    """Return a text; None for any other value."""
    return clean(value) if isinstance(value, str) else None


def number_of(value: Any) -> int | None:
    """Return an integer; None for any other value."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def mapping_of(value: Any) -> Mapping[str, Any]:
    """Return an object; an empty one for any other value."""
    return value if isinstance(value, Mapping) else {}


def image_of(mime: Any, data: Any) -> Image:
    """Return an image recorded in base64."""
    size = len(data.rstrip("=")) * 3 // 4 if isinstance(data, str) else None
    return Image(mime=text_of(mime), size=size)


def content_of(
    content: Any, image: Callable[[Mapping[str, Any]], Image]
) -> tuple[str, tuple[Image, ...]]:
    """Return the text of a result's content, and its images.

    Args:
        content: A text, or a list of blocks.
        image: Reads a block of type ``image``.
    """
    if isinstance(content, str):
        return clean(content), ()
    blocks = [b for b in content if isinstance(b, Mapping)] if isinstance(content, list) else []
    texts = [clean(b["text"]) for b in blocks if isinstance(b.get("text"), str)]
    images = tuple(image(block) for block in blocks if block.get("type") == "image")
    return "\n".join(texts), images
