"""The plugin before Claude Code's own tools: validation, its tests, installation."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from claude_host import DONE, PREFIX, Claude, tool
from model import Turn

import hindnote.hosts.claude
from hindnote.core.install.lasting import vanishing

MOD = Path(hindnote.hosts.claude.__file__).parent / "mod"
SOURCE = Path(__file__).parents[3] / "hosts" / "claude" / "mod"


def plugin(claude: Claude, *arguments: str) -> str:
    done = subprocess.run(
        [str(claude.executable), "plugin", *arguments],
        env=claude.env,
        cwd=claude.project,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def offered(claude: Claude) -> int:
    return sum(name.startswith(PREFIX) for name in claude.model.played[-1].tools)


def test_the_host_validates_the_plugin_strictly(bare_claude: Claude) -> None:
    plugin(bare_claude, "validate", "--strict", str(MOD))


def test_the_host_validates_the_installed_plugin_strictly(claude: Claude) -> None:
    plugin(claude, "validate", "--strict", str(claude.home / ".claude" / "skills" / "hindnote"))


def test_the_plugins_own_tests_pass(bare_claude: Claude) -> None:
    assert "0 fail" in plugin(bare_claude, "test", str(SOURCE))


def test_install_and_uninstall_give_and_take_the_tools(bare_claude: Claude) -> None:
    bare_claude.model.then(DONE, DONE)
    bare_claude.hindnote("install", "claude")
    assert "hindnote@skills-dir" in plugin(bare_claude, "list")
    bare_claude.run("with")
    assert offered(bare_claude) == 7

    bare_claude.hindnote("uninstall", "claude")

    assert "hindnote" not in plugin(bare_claude, "list")
    bare_claude.run("without")
    assert offered(bare_claude) == 0


def test_the_marketplace_gives_and_takes_the_tools(bare_claude: Claude) -> None:
    bare_claude.model.then(Turn(tool("notes_list")), DONE, DONE)
    bare_claude.hindnote("install", "claude", "--marketplace")
    bare_claude.hindnote("install", "claude", "--marketplace")
    assert "hindnote@hindnote" in plugin(bare_claude, "list")
    bare_claude.run("with")
    assert offered(bare_claude) == 7
    assert "error" not in bare_claude.model.played[1].everything.partition("tool_result")[2][:200]

    bare_claude.hindnote("uninstall", "claude")

    assert "hindnote" not in plugin(bare_claude, "list")
    bare_claude.run("without")
    assert offered(bare_claude) == 0


def test_doctor_finds_nothing_wrong_with_the_installation(claude: Claude) -> None:
    skills = claude.home / ".claude" / "skills" / "hindnote"

    report = claude.hindnote("doctor", status=None)

    if vanishing(sys.executable) is None:
        assert f"ok       {skills}: is current, and runs " in report
    else:
        # The environment of the tests itself may lie in a temporary folder.
        assert f"warning  {sys.executable}: lies in " in report
    assert not [line for line in report.splitlines() if "error " in line and str(skills) in line]
    assert f"ok       {claude.executable}: Claude Code 2.1." in report


def test_a_plugin_that_a_person_switched_off_is_told_until_it_is_on_again(claude: Claude) -> None:
    claude.model.then(DONE, DONE)
    plugin(claude, "disable", "hindnote@skills-dir")
    claude.run("without")
    assert offered(claude) == 0
    told = "hindnote@skills-dir: is switched off in"

    assert told in claude.hindnote("doctor", status=None)
    assert "nothing to do" not in claude.hindnote("install", "claude")

    # The way out that both name.
    plugin(claude, "enable", "hindnote@skills-dir", "--scope", "user")
    assert told not in claude.hindnote("doctor", status=None)
    assert "nothing to do" in claude.hindnote("install", "claude")
    claude.run("with")
    assert offered(claude) == 7
