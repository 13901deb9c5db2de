from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from hindnote.core.browse.app import make_app
from hindnote.core.browse.security import Guard
from hindnote.core.browse.world import World
from hindnote.core.cli.session_options import asking_for
from hindnote.core.places.home import notes_home

PORT = 8_123


class Site:
    """The pages of the recorded sessions, asked over HTTP as a browser would."""

    def __init__(self) -> None:
        asked = asking_for("*")
        self.guard = Guard("", PORT)
        self.world = World(asked.dispatcher, asked.call, notes_home(), f"{self.guard.prefix}/")
        self.guard.app = make_app(self.world)
        self.client = TestClient(self.guard, base_url=f"http://127.0.0.1:{PORT}")

    def enter(self) -> None:
        """Let the client in."""
        assert self.client.get(self.guard.entrance).status_code == 200

    def text(self, path: str = "", status: int = 200) -> str:
        """Return a page."""
        answer = self.client.get(f"{self.world.base}{path}")
        assert answer.status_code == status, answer.text
        return answer.text


@pytest.fixture
def stranger(recorded: Path) -> Iterator[Site]:
    """The pages, to which nobody was let in yet."""
    site = Site()
    yield site
    site.client.close()


@pytest.fixture
def site(stranger: Site) -> Site:
    """The pages, with a client that was let in."""
    stranger.enter()
    return stranger
