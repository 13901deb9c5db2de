"""The pages in a real Chromium, over recorded sessions of both hosts."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from chromium import CHROMIUM, Browser
from pages_world import Server, World


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    """A person's sessions, notes and project."""
    made = World(tmp_path_factory.mktemp("world"))
    made.add_evil()
    return made


@pytest.fixture(scope="session")
def server(world: World) -> Iterator[Server]:
    """``hindnote browse`` over the world."""
    started = Server(world)
    yield started
    started.end()


@pytest.fixture(scope="session")
def visitor(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """A browser that came in through the file, as a person's does."""
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed")
    browser = Browser(tmp_path_factory.mktemp("profile"))
    browser.show(server.door)
    browser.until(f"location.href == {server.address!r} && document.readyState == 'complete'")
    yield browser
    browser.close()


@pytest.fixture
def browser(visitor: Browser) -> Browser:
    """The browser that is let in, with a usual window."""
    visitor.resize(1400)
    return visitor


@pytest.fixture(scope="session")
def axe(host_modules: Path) -> str:
    """The program that finds what is hard to use for some people."""
    return (host_modules / "axe-core/axe.min.js").read_text("utf-8")
