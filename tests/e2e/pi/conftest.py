"""Pi in a scratch home, with hindnote installed by its own command."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from model import ScriptedModel

sys.path.insert(0, str(Path(__file__).parent))

from pi_host import Pi, Terminal


@pytest.fixture
def bare_pi(tmp_path: Path, node: Path, host_modules: Path, model: ScriptedModel) -> Pi:
    """Pi without hindnote."""
    return Pi(tmp_path, node, host_modules, model)


@pytest.fixture
def pi(bare_pi: Pi) -> Pi:
    """Pi with hindnote."""
    done = bare_pi.hindnote("install", "pi")
    assert done.returncode == 0, done.stderr
    return bare_pi


@pytest.fixture
def terminal(pi: Pi) -> Iterator[Terminal]:
    """Pi in a terminal, with hindnote."""
    if shutil.which("tmux") is None:
        pytest.skip("tmux is missing: apt-get install tmux")
    terminal = Terminal(pi)
    yield terminal
    terminal.close()
