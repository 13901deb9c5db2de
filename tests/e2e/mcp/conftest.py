"""The real Claude Code as a program that speaks MCP, with ``hindnote mcp`` as its server."""

from __future__ import annotations

import json
import platform
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from model import ScriptedModel

# How the program is run is the same as for its own plugin.
sys.path.insert(0, str(Path(__file__).parents[1] / "claude"))
sys.path.insert(0, str(Path(__file__).parent))

from claude_host import Claude

SERVER = ["-c", "from hindnote.core.cli import main; main()", "mcp"]
OPTIONS = ["--agent", "claude", "--session-id", "s-1", "--history-of", "claude"]


@pytest.fixture
def program(host_modules: Path, model: ScriptedModel, tmp_path: Path) -> Iterator[Claude]:
    """Claude Code without the plugin, told of one MCP server and allowed to call it."""
    if (sys.platform, platform.machine()) != ("linux", "x86_64"):
        pytest.skip("the pinned Claude Code is the program for Linux on x86-64")
    executable = host_modules / "@anthropic-ai" / "claude-code-linux-x64" / "claude"
    (tmp_path / "home").mkdir()
    (tmp_path / "project" / ".git").mkdir(parents=True)
    server = {"command": sys.executable, "args": [*SERVER, *OPTIONS]}
    config = {"mcpServers": {"hindnote": server}}
    (tmp_path / "mcp.json").write_text(json.dumps(config))
    runtime = Path(tempfile.mkdtemp(prefix="hn-", dir="/tmp"))
    yield Claude(executable, model, tmp_path / "home", tmp_path / "project", runtime)
    shutil.rmtree(runtime)


@pytest.fixture
def options(program: Claude) -> list[str]:
    """What Claude Code is started with."""
    config = program.home.parent / "mcp.json"
    return ["--mcp-config", str(config), "--strict-mcp-config", "--allowedTools", "mcp__hindnote"]
