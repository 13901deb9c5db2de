from __future__ import annotations

import json
import os
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from hindnote.hosts.claude import install as installing
from hindnote.hosts.claude.install import install, uninstall

ROOT = Path(__file__).parents[3]


@pytest.fixture
def claude(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Put a stand-in for Claude Code on the PATH; it logs what it is asked."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")

    def claude(
        version: str = "2.1.332 (Claude Code)", *, status: int = 0, listed: str = "[]"
    ) -> Path:
        script = folder / "claude"
        log = tmp_path / "claude.log"
        script.write_text(
            f'#!/bin/sh\nif [ "$1" = --version ]; then echo "{version}"; exit 0; fi\n'
            f"if [ \"$2\" = list ]; then echo '{listed}'; exit 0; fi\n"
            f'echo "$@" >> {log}\necho failed >&2; exit {status}\n'
        )
        script.chmod(0o755)
        return log

    return claude


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "home" / ".claude" / "skills" / "hindnote"


def run(command: object, *arguments: str) -> Result:
    return CliRunner().invoke(command, arguments)  # type: ignore[arg-type]


def test_install_puts_the_plugin_where_the_host_loads_it(
    claude: Callable[..., Path], folder: Path
) -> None:
    claude()

    result = run(install)

    assert result.exit_code == 0, result.output
    manifest = json.loads((folder / ".claude-plugin" / "plugin.json").read_text())
    assert manifest["name"] == "hindnote"
    assert json.loads((folder / "hooks" / "hooks.json").read_text()) == {
        "modules": ["./register.ts"]
    }
    assert (folder / "LICENSE").is_file()
    assert (folder / "README.md").is_file()
    assert not (folder / "tests").exists()
    for path in folder.rglob("*"):
        assert path.is_dir() or f"wrote {path}" in result.output


def test_the_installed_plugin_runs_the_python_that_installed_it(
    claude: Callable[..., Path], folder: Path
) -> None:
    claude()
    run(install)

    text = (folder / "hooks" / "runtime.ts").read_text()

    assert f"export const PYTHON = {json.dumps(sys.executable)}\n" in text


def test_a_python_with_quotes_in_its_path_stays_one_string() -> None:
    path = "/o'b\\r\"x/python"

    text = installing.runtime(path).decode()

    assert json.loads(text.rpartition("PYTHON = ")[2]) == path


def test_install_again_touches_nothing(claude: Callable[..., Path], folder: Path) -> None:
    claude()
    run(install)

    result = run(install)

    assert (result.exit_code, result.output) == (0, f"nothing to do: {folder} is current\n")


@pytest.mark.parametrize("again", [False, True])
def test_install_tells_that_claude_has_the_plugin_switched_off(
    claude: Callable[..., Path], tmp_path: Path, again: bool
) -> None:
    claude()
    settings = tmp_path / "home" / ".claude" / "settings.json"
    settings.parent.mkdir(parents=True)
    settings.write_text('{"enabledPlugins": {"hindnote@skills-dir": false}}')
    if again:
        run(install)

    output = run(install).output

    assert "nothing to do" not in output
    assert "Claude Code loads it" not in output
    assert output.endswith(
        f"hindnote@skills-dir is switched off in {settings}, so Claude Code does not load it; "
        "`claude plugin enable hindnote@skills-dir --scope user` switches it on\n"
    )
    assert json.loads(settings.read_text()) == {"enabledPlugins": {"hindnote@skills-dir": False}}


def test_uninstall_takes_everything_away(claude: Callable[..., Path], folder: Path) -> None:
    claude()
    run(install)

    result = run(uninstall)

    assert result.exit_code == 0
    assert not folder.exists()
    assert f"removed {folder / 'hooks' / 'register.ts'}" in result.output
    assert "nothing to do" in run(uninstall).output


def test_a_dry_run_writes_nothing(
    claude: Callable[..., Path], folder: Path, tmp_path: Path
) -> None:
    log = claude()

    assert f"would write {folder / 'hooks' / 'register.ts'}" in run(install, "--dry-run").output
    assert "would run" in run(install, "--dry-run", "--marketplace").output
    assert not (tmp_path / "home").exists()
    assert not (tmp_path / "data").exists()

    run(install)
    before = sorted(folder.rglob("*"))
    assert "would remove" in run(uninstall, "--dry-run").output
    assert sorted(folder.rglob("*")) == before
    assert not log.exists()


@pytest.mark.parametrize("version", ["2.1.325 (Claude Code)", "1.9.999", "2.0.400"])
def test_install_refuses_a_claude_too_old_and_says_what_is_needed(
    claude: Callable[..., Path], folder: Path, version: str
) -> None:
    claude(version)

    result = run(install)

    assert result.exit_code == 1
    assert "needs 2.1.326 or newer" in result.output
    assert not folder.exists()


@pytest.mark.parametrize(
    "version", ["2.1.326", "2.1.332", "2.1.1000 (Claude Code)", "2.2.0", "3.0.0-beta"]
)
def test_install_accepts_newer_ones(
    claude: Callable[..., Path], folder: Path, version: str
) -> None:
    claude(version)

    assert run(install).exit_code == 0
    assert folder.is_dir()


def test_install_warns_of_a_claude_that_does_not_say_its_version_and_goes_on(
    claude: Callable[..., Path], folder: Path
) -> None:
    claude("hello")

    result = run(install)

    assert result.exit_code == 0
    assert "does not say which version it is; hindnote needs Claude Code 2.1.326" in result.output
    assert folder.is_dir()


def test_install_without_claude_says_what_is_needed_and_goes_on(
    claude: Callable[..., Path], folder: Path
) -> None:
    result = run(install)

    assert result.exit_code == 0
    assert "no claude on the PATH; hindnote needs Claude Code 2.1.326" in result.output
    assert folder.is_dir()


def test_the_configuration_directory_can_be_moved(
    claude: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    claude()
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "other"))

    run(install)

    assert (tmp_path / "other" / "skills" / "hindnote" / "hooks" / "register.ts").is_file()


def test_install_refuses_a_plugin_of_somebody_else(
    claude: Callable[..., Path], folder: Path
) -> None:
    claude()
    folder.mkdir(parents=True)
    (folder / "mine").write_text("x")

    result = run(install)

    assert result.exit_code == 1
    assert "not written by hindnote" in result.output
    assert [path.name for path in folder.iterdir()] == ["mine"]


def test_uninstall_refuses_what_is_left_of_a_changed_plugin(
    claude: Callable[..., Path], folder: Path
) -> None:
    claude()
    run(install)
    changed = folder / "hooks" / "tools.ts"
    changed.write_text("// mine\n")
    assert f"left {changed}: it was changed since hindnote wrote it" in run(uninstall).output

    result = run(uninstall)

    assert result.exit_code == 1
    assert f"{folder} was not written by hindnote, or was changed before" in result.output
    assert changed.read_text() == "// mine\n"


def test_the_marketplace_is_added_and_the_plugin_installed_from_it(
    claude: Callable[..., Path], folder: Path, tmp_path: Path
) -> None:
    log = claude()

    result = run(install, "--marketplace")

    assert result.exit_code == 0, result.output
    place = tmp_path / "data" / "hindnote" / "claude-marketplace"
    assert (place / "hindnote" / "hooks" / "register.ts").is_file()
    listed = json.loads((place / ".claude-plugin" / "marketplace.json").read_text())
    assert listed["plugins"][0]["source"] == "./hindnote"
    assert log.read_text().splitlines() == [
        f"plugin marketplace add {place}",
        "plugin install hindnote@hindnote",
    ]
    assert not folder.exists()

    run(uninstall)
    assert log.read_text().splitlines()[2:] == [
        "plugin uninstall hindnote@hindnote",
        "plugin marketplace remove hindnote",
    ]
    assert not place.exists()


@pytest.mark.parametrize("options", [(), ("--dry-run",)])
def test_a_marketplace_that_claude_installed_from_is_let_be(
    claude: Callable[..., Path], tmp_path: Path, options: tuple[str, ...]
) -> None:
    claude()
    run(install, "--marketplace")
    log = claude(listed='[{"id": "x@y"}, {"id": "hindnote@hindnote", "enabled": true}]')
    before = log.read_text()
    place = tmp_path / "data" / "hindnote" / "claude-marketplace"

    result = run(install, "--marketplace", *options)

    assert (result.exit_code, result.output) == (0, f"nothing to do: {place} is current\n")
    assert log.read_text() == before


@pytest.mark.parametrize(
    "listed",
    ["[]", "what?", "5", "[5]", "[{}]", '[{"id": "hindnote@hindnote", "enabled": false}]'],
)
def test_a_plugin_that_claude_does_not_list_as_on_is_installed_from_the_marketplace_again(
    claude: Callable[..., Path], listed: str
) -> None:
    claude()
    run(install, "--marketplace")
    log = claude(listed=listed)
    before = log.read_text()

    result = run(install, "--marketplace")

    assert result.exit_code == 0
    assert "nothing to do" not in result.output
    assert log.read_text() == before * 2


def test_a_failure_of_claude_is_told(claude: Callable[..., Path]) -> None:
    claude(status=3)

    result = run(install, "--marketplace")

    assert result.exit_code == 1
    assert "plugin marketplace add" in result.output
    assert "failed" in result.output


def test_uninstall_goes_on_where_claude_knows_the_plugin_no_longer(
    claude: Callable[..., Path], tmp_path: Path
) -> None:
    claude()
    run(install, "--marketplace")
    claude(status=1)

    result = run(uninstall)

    assert result.exit_code == 0
    assert "plugin uninstall hindnote@hindnote failed" in result.output
    assert not (tmp_path / "data" / "hindnote" / "claude-marketplace").exists()


def test_the_marketplace_needs_claude(claude: Callable[..., Path], tmp_path: Path) -> None:
    result = run(install, "--marketplace")

    assert result.exit_code == 1
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("first", [(), ("--marketplace",)])
def test_a_second_installation_beside_the_first_is_refused(
    claude: Callable[..., Path], first: tuple[str, ...]
) -> None:
    claude()
    run(install, *first)

    result = run(install, *([] if first else ["--marketplace"]))

    assert result.exit_code == 1
    assert "twice" in result.output


def test_the_plugins_version_is_the_packages() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    manifest = json.loads((installing.MOD / ".claude-plugin" / "plugin.json").read_text())

    assert manifest["version"] == project["version"]
    assert manifest["license"] == project["license"]


def test_the_licence_is_the_projects() -> None:
    assert (installing.MOD / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()


def test_every_shipped_file_is_package_data() -> None:
    data = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    listed = data["package-data"]["hindnote.hosts.claude"]

    assert sorted(listed) == sorted(f"mod/{pattern}" for pattern in installing.SHIPPED)
    assert os.sep == "/"


@pytest.mark.parametrize("command", [install, uninstall])
@pytest.mark.parametrize("value", ["somewhere", "./x", "~someone/x"])
@pytest.mark.parametrize("name", ["CLAUDE_CONFIG_DIR", "XDG_DATA_HOME", "HINDNOTE_HOME"])
def test_a_variable_that_is_no_whole_path_is_refused_with_the_reason(
    claude: Callable[..., Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    value: str,
    command: click.Command,
) -> None:
    claude()
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    monkeypatch.setenv(name, value)

    result = run(command)

    assert result.exit_code == 1
    assert f"{name} is '{value}', which is no whole path" in result.output
    assert list(Path.cwd().iterdir()) == []


@pytest.mark.parametrize("name", ["CLAUDE_CONFIG_DIR", "XDG_DATA_HOME"])
def test_a_literal_tilde_is_refused_with_what_was_meant(
    claude: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    claude()
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    monkeypatch.setenv(name, "~/x")

    result = run(install)

    assert result.exit_code == 1
    assert f"{name} is '~/x', which holds a literal ~" in result.output
    assert f"set it to {tmp_path}/home/x" in result.output
    assert list(Path.cwd().iterdir()) == []


def test_an_interpreter_that_will_vanish_is_told_with_the_way_that_lasts(
    claude: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    claude()
    assert "warning" not in run(install).output
    gone = "/home/a/.cache/uv/archive-v0/5v57KAcb2biv6m1y/bin/python"
    monkeypatch.setattr("sys.executable", gone)

    result = run(install)

    assert result.exit_code == 0
    *_, warning = result.output.splitlines()
    assert warning.startswith(f"warning: {gone} lies in uv's cache")
    assert warning.endswith("`pipx install`, and run its `hindnote install claude`")
