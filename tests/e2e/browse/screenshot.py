"""The pictures in ``docs/reading.md``: the pages in a real Chromium.

Run ``pytest tests/e2e/browse/screenshot.py``; it rewrites the pictures.
"""

from __future__ import annotations

from pathlib import Path

from chromium import Browser
from pages_world import Server, World

PICTURES = Path(__file__).parents[3] / "docs" / "images"
BASIC = "s/claude:a4cc8b3b-0ae7-4f89-9093-cc8b99628698"
OPEN = "for (const one of document.querySelectorAll('{}')) one.open = true; 1"


def take(browser: Browser, name: str, width: int, height: int) -> None:
    browser.resize(width, height)
    browser.picture(PICTURES / f"{name}.png")


def test_the_pictures_of_the_pages_are_taken(
    visitor: Browser, server: Server, world: World
) -> None:
    [key] = [path.name for path in (world.top / "notes/project").iterdir()]

    visitor.show(f"{server.address}{BASIC}?after=0")
    visitor.value(OPEN.format("#seq-24"))
    take(visitor, "browse-session", 1000, 860)

    visitor.show(f"{server.address}search?q=how+did+we+add+the+greeting")
    take(visitor, "browse-search", 1000, 700)

    visitor.show(f"{server.address}notes/project/{key}/decisions.md", "dark")
    visitor.value(OPEN.format(".version"))
    take(visitor, "browse-note", 1000, 860)

    visitor.show(f"{server.address}{BASIC}?after=0")
    take(visitor, "browse-narrow", 390, 720)
