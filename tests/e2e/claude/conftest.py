"""The real Claude Code with the plugin installed in it, a scratch home and a scripted model."""

from __future__ import annotations

import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from model import ScriptedModel

sys.path.insert(0, str(Path(__file__).parent))

from claude_host import Claude, Dialogue
from terminal import Terminal
from tmux import wait_until


@pytest.fixture
def claude_executable(host_modules: Path) -> Path:
    if (sys.platform, platform.machine()) != ("linux", "x86_64"):
        pytest.skip("the pinned Claude Code is the program for Linux on x86-64")
    return host_modules / "@anthropic-ai" / "claude-code-linux-x64" / "claude"


@pytest.fixture
def bare_claude(claude_executable: Path, model: ScriptedModel, tmp_path: Path) -> Iterator[Claude]:
    """Claude Code without the plugin."""
    project = tmp_path / "project"
    project.mkdir()
    (tmp_path / "home").mkdir()
    runtime = Path(tempfile.mkdtemp(prefix="hn-", dir="/tmp"))
    claude = Claude(claude_executable, model, tmp_path / "home", project, runtime)
    yield claude
    for process in claude.processes:
        process.kill()
        process.wait()
    try:
        wait_until(lambda: not claude.helpers(), 5)
    finally:
        for pid in claude.helpers():
            os.kill(pid, signal.SIGKILL)
        shutil.rmtree(runtime)


@pytest.fixture
def claude(bare_claude: Claude) -> Claude:
    """Claude Code with the plugin, put there by ``hindnote install claude``."""
    bare_claude.hindnote("install", "claude")
    return bare_claude


@pytest.fixture
def dialogue(claude: Claude) -> Iterator[Callable[..., Dialogue]]:
    """Start a process of Claude Code that takes one prompt after the other."""
    started: list[subprocess.Popen[str]] = []

    def start(*options: str) -> Dialogue:
        formats = ["--input-format", "stream-json", "--output-format", "stream-json", "--verbose"]
        process = subprocess.Popen(
            claude.command("-p", *formats, *options),
            env=claude.env,
            cwd=claude.project,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return Dialogue(claude, process)

    yield start
    for process in started:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.close()
        try:
            process.wait(20)
        finally:
            process.kill()
            process.wait()
            process.stdout.close()


@pytest.fixture
def terminal(claude: Claude) -> Iterator[Callable[..., Terminal]]:
    """Start Claude Code in a terminal, with the options given."""
    if shutil.which("tmux") is None:
        pytest.skip("tmux is missing: apt-get install tmux")
    started: list[Terminal] = []

    def start(*options: str) -> Terminal:
        started.append(Terminal(claude, *options))
        return started[-1]

    yield start
    for terminal in started:
        terminal.close()
