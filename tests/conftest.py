"""How much a run of the tests does, and which of the processes that they start are measured."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

# What drives a browser or a server is imported by its users under its own name.
sys.path.insert(0, str(Path(__file__).parent / "browsers"))
sys.path.insert(0, str(Path(__file__).parent / "servers"))

from postgres import _database, cluster, team  # noqa: F401

# Each run draws other examples than the one before. A deadline would test the machine.
settings.register_profile("quick", max_examples=25, deadline=None)
settings.register_profile("thorough", max_examples=500, deadline=None)
settings.load_profile("quick")


@pytest.fixture(scope="session", autouse=True)
def measuring() -> Iterator[dict[str, str]]:
    """Take away the variables with which a process measures its coverage, and return them.

    To measure takes a process longer than most of them take to do their work.
    """
    names = [name for name in os.environ if name.startswith("COVERAGE_PROCESS_")]
    taken = {name: os.environ.pop(name) for name in names}
    yield taken
    os.environ.update(taken)


@pytest.fixture(scope="session", autouse=True)
def caches(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep the caches of whoever runs the tests out of them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("caches")))
        yield


@pytest.fixture
def measured(measuring: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the processes of a test measure what no test in this process can reach."""
    for name, value in measuring.items():
        monkeypatch.setenv(name, value)


@pytest.fixture(scope="session")
def rounds() -> Callable[[int], int]:
    """Return how often a campaign does something: ``rounds(full)``.

    All of ``full`` with ``--hypothesis-profile thorough`` (``tox -e thorough``), a tenth otherwise.
    """
    thorough = settings.get_current_profile_name() == "thorough"
    return lambda full: full if thorough else max(full // 10, 1)


@pytest.fixture(scope="session")
def recorded_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the recorded sessions of both hosts, where each host would keep them."""
    top = tmp_path_factory.mktemp("recorded")
    data = Path(__file__).parent / "data"
    shutil.copytree(data / "claude", top / "claude/projects/-workspace-demo")
    shutil.copytree(data / "pi", top / "agent/sessions/--workspace-demo--")
    return top


@pytest.fixture
def recorded(recorded_files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let both hosts keep the recorded sessions, beside an empty home of notes; returns the folder."""
    monkeypatch.setenv("PI_CODING_AGENT_DIR", str(recorded_files / "agent"))
    monkeypatch.delenv("PI_CODING_AGENT_SESSION_DIR", raising=False)
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(recorded_files / "claude"))
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))
    monkeypatch.setenv("HINDNOTE_HOME", str(tmp_path / "notes"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    # Apart from the notes: a home inside of a project would have to be confirmed.
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return recorded_files
