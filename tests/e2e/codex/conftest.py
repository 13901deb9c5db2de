from __future__ import annotations

import platform
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

# The programs of this folder are imported by its tests under their own name.
sys.path.insert(0, str(Path(__file__).parents[1] / "mcp"))
sys.path.insert(0, str(Path(__file__).parent))

from codex_host import Codex, executable
from dialects import Responses
from model import ScriptedModel


@pytest.fixture
def codex(host_modules: Path, tmp_path: Path) -> Iterator[Codex]:
    """Codex in a scratch home, with hindnote installed by its own command."""
    if (sys.platform, platform.machine()) != ("linux", "x86_64"):
        pytest.skip("the pinned Codex is the program for Linux on x86-64")
    (tmp_path / "home").mkdir()
    (tmp_path / "my-project" / ".git").mkdir(parents=True)
    with ScriptedModel(speaks=Responses) as model:
        made = Codex(executable(host_modules), tmp_path / "home", tmp_path / "my-project", model)
        made.configure()
        made.hindnote("install", "codex")
        yield made
