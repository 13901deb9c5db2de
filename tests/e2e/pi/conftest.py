"""Pi in a scratch home, with hindnote installed by its own command."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from model import ScriptedModel

sys.path.insert(0, str(Path(__file__).parent))

from pi_host import Pi


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
