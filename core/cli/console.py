"""A rich console that escapes every hidden character of a text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from rich.console import Console
from rich.segment import Segment

from hindnote.core.text.controls import escaped

if TYPE_CHECKING:
    from rich.console import ConsoleOptions, RenderableType


class SafeConsole(Console):
    """A console that escapes hidden characters in whatever it prints.

    Works on the text before styles and links are added, so these are kept.
    """

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Yield the segments to print."""
        return _escaped(super().render(renderable, options))


def _escaped(segments: Iterable[Segment]) -> Iterator[Segment]:
    for segment in segments:
        yield segment if segment.control else Segment(escaped(segment.text), segment.style)
