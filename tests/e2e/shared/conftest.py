"""Two machines with one database: Pi with a home of its own, and Claude Code with another."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from model import ScriptedModel
from postgres import Cluster

sys.path.insert(0, str(Path(__file__).parents[1] / "pi"))
sys.path.insert(0, str(Path(__file__).parents[1] / "claude"))

from claude_host import Claude
from pi_host import Pi
from tmux import wait_until


@pytest.fixture
def pi(tmp_path: Path, node: Path, host_modules: Path, model: ScriptedModel) -> Pi:
    """Pi with hindnote, on one machine."""
    made = Pi(tmp_path / "first", node, host_modules, model)
    done = made.hindnote("install", "pi")
    assert done.returncode == 0, done.stderr
    return made


@pytest.fixture
def claude(tmp_path: Path, host_modules: Path, model: ScriptedModel) -> Iterator[Claude]:
    """Claude Code with hindnote, on another machine."""
    program = host_modules / "@anthropic-ai" / "claude-code-linux-x64" / "claude"
    if not program.is_file():
        pytest.skip("the pinned Claude Code is the program for Linux on x86-64")
    home, project = tmp_path / "second" / "home", tmp_path / "second" / "work" / "clone"
    for folder in (home, project):
        folder.mkdir(parents=True)
    runtime = Path(tempfile.mkdtemp(prefix="hn-", dir="/tmp"))
    made = Claude(program, model, home, project, runtime)
    made.hindnote("install", "claude")
    yield made
    try:
        wait_until(lambda: not made.helpers(), 5)
    finally:
        for pid in made.helpers():
            os.kill(pid, signal.SIGKILL)
        shutil.rmtree(runtime)


@pytest.fixture
def url(team: Cluster) -> str:
    """The address of the database, which nobody has confirmed."""
    return team.url("team", "ada")


@pytest.fixture
def confirmed(url: str) -> Iterator[str]:
    """The same address, confirmed by the person who runs the tests, until the test ends.

    Hosts find that list by the user database, so it is the real one, and gets one line more.
    """
    from hindnote.core.database.settings import settings_of
    from hindnote.core.places.trust import Trusted, set_trusted, trust_file, trusted

    file = trust_file()
    assert file is not None
    was_there = file.exists()
    settings = settings_of(url)
    homes, databases = trusted()
    set_trusted(homes, (*databases, settings))
    yield url
    homes, databases = trusted()
    set_trusted(homes, tuple(one for one in databases if one != settings))
    if not was_there and trusted() == Trusted():
        file.unlink()
