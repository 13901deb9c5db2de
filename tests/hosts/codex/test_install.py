"""``hindnote install codex`` and ``uninstall``: what they leave of a person's ``config.toml``."""

from __future__ import annotations

import os
import shutil
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from hindnote.hosts.codex.boot import fitting
from hindnote.hosts.codex.doctor import checks
from hindnote.hosts.codex.install import install, uninstall
from hindnote.hosts.codex.settings import Settings, added, installed, is_there, removed

PERSONAL = """# mine, and it stays
model = "gpt-5.5"   # the best

[mcp_servers.other]
command = 'other'

[[hooks.SessionStart]]
matcher = "startup"
[[hooks.SessionStart.hooks]]
type = "command"
command = "true"
"""
SETTINGS = Settings("/opt/hindnote/bin/hindnote")


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("HINDNOTE_HOME", raising=False)
    command = tmp_path / "venv" / "hindnote"
    command.parent.mkdir()
    shutil.copyfile("/bin/true", command)
    command.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(command.with_name("python")))
    return tmp_path / "codex" / "config.toml"


def run(command: Any, *options: str, fails: bool = False) -> Result:
    result = CliRunner().invoke(command, options)
    assert (result.exit_code != 0) == fails, result.output
    return result


@pytest.mark.parametrize(
    "before",
    [PERSONAL, PERSONAL.rstrip("\n"), "", "\n", PERSONAL.replace("\n", "\r\n"), "a = 1"],
    ids=["usual", "no-line-end", "empty", "blank", "crlf", "short"],
)
def test_uninstalling_leaves_each_byte_as_it_was(config: Path, before: str) -> None:
    config.parent.mkdir()
    config.write_bytes(before.encode())

    run(install)
    assert config.read_bytes().startswith(before.encode())
    tomllib.loads(config.read_text())
    run(uninstall)

    assert config.read_bytes() == before.encode()


def test_a_file_that_was_made_for_it_goes_with_it(config: Path) -> None:
    run(install)
    assert config.stat().st_mode & 0o777 == 0o600
    run(uninstall)

    assert not config.exists()


def test_what_was_installed_is_what_codex_is_to_run(config: Path) -> None:
    run(install)

    found = tomllib.loads(config.read_text())
    server = found["mcp_servers"]["hindnote"]
    assert server["command"] == str(Path(sys.executable).with_name("hindnote"))
    assert server["args"] == ["mcp", "--host", "codex"]
    assert server["required"] is True
    assert server["default_tools_approval_mode"] == "approve"
    for event in ("SessionStart", "SubagentStart"):
        ((hook,),) = [group["hooks"] for group in found["hooks"][event]]
        assert hook["command"] == f"{server['command']} boot codex"


def test_options_and_a_notes_home_of_its_own_are_written_down(
    config: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HINDNOTE_HOME", str(tmp_path / "my notes"))
    run(install, "--ask", "--project-tools")

    found = tomllib.loads(config.read_text())
    server = found["mcp_servers"]["hindnote"]
    home = str(tmp_path / "my notes")
    assert server["args"] == ["mcp", "--host", "codex", "--home", home, "--project-tools"]
    assert "default_tools_approval_mode" not in server
    assert f"--home '{home}'" in found["hooks"]["SessionStart"][0]["hooks"][0]["command"]


def test_installing_again_changes_nothing_and_with_other_options_that_alone(config: Path) -> None:
    config.parent.mkdir()
    config.write_text(PERSONAL)
    run(install)
    once = config.read_bytes()

    assert "nothing to do" in run(install).output
    assert config.read_bytes() == once
    run(install, "--ask")
    assert config.read_bytes() != once
    run(install)
    assert config.read_bytes() == once


def test_a_dry_run_does_nothing(config: Path) -> None:
    assert f"would write {config}" in run(install, "--dry-run").output
    assert not config.exists()
    run(install)
    assert f"would remove {config}" in run(uninstall, "--dry-run").output
    assert config.exists()


def test_the_mode_and_a_link_stay(config: Path, tmp_path: Path) -> None:
    config.parent.mkdir()
    kept = tmp_path / "dotfiles.toml"
    kept.write_text(PERSONAL)
    kept.chmod(0o640)
    config.symlink_to(kept)

    run(install)

    assert config.is_symlink()
    assert is_there(kept.read_text())
    assert kept.stat().st_mode & 0o777 == 0o640


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can write another user's file")
def test_the_owner_stays_when_root_installs(config: Path) -> None:
    config.parent.mkdir()
    config.write_text(PERSONAL)
    os.chown(config, 12_345, 23_456)

    run(install)
    run(install, "--ask")
    run(uninstall)

    assert config.read_text() == PERSONAL
    assert (config.stat().st_uid, config.stat().st_gid) == (12_345, 23_456)


@pytest.mark.parametrize("kind", ["pipe", "device", "folder", "huge", "link to itself"])
def test_what_is_no_configuration_is_refused_at_once_and_stays(config: Path, kind: str) -> None:
    config.parent.mkdir()
    if kind == "pipe":
        os.mkfifo(config)
    elif kind == "folder":
        config.mkdir()
    elif kind == "huge":
        config.touch()
        os.truncate(config, 10 << 30)
    else:
        config.symlink_to("/dev/zero" if kind == "device" else config.name)
    before = config.lstat()

    for command in (install, uninstall):
        assert f"{config} cannot be changed" in run(command, fails=True).output
    assert levels()[-1][0] == "error"

    after = config.lstat()
    assert (after.st_ino, after.st_size) == (before.st_ino, before.st_size)


def test_a_relative_home_of_codex_is_refused(
    config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A project that sets it would else choose a file below whatever directory one is in."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CODEX_HOME", "codex")

    for command in (install, uninstall):
        assert "CODEX_HOME" in run(command, fails=True).output
    assert not config.exists()


@pytest.mark.parametrize("folder", [".", "bin"])
def test_no_codex_that_a_project_brings_is_run(
    config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str
) -> None:
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    program = project / folder / "codex"
    program.parent.mkdir(exist_ok=True)
    program.write_text(f"#!/bin/sh\ntouch {project}/was-run\n")
    program.chmod(0o755)
    monkeypatch.chdir(project)
    monkeypatch.setenv("PATH", f"{folder}:{program.parent}")

    run(install)
    levels()
    run(uninstall)

    assert not (project / "was-run").exists()


@pytest.mark.parametrize(
    ("before", "told"),
    [
        ("a = [", "not valid TOML"),
        ('[mcp_servers.hindnote]\ncommand = "x"\n', "did not write it"),
        ('mcp_servers = { a = { command = "x" } }\n', "write it as a table"),
        ("hooks = {}\n", "write it as a table"),
        ("\xff", "not UTF-8"),
    ],
)
def test_what_is_in_the_way_is_told_and_left_alone(config: Path, before: str, told: str) -> None:
    config.parent.mkdir()
    config.write_bytes(before.encode("latin-1"))

    assert told in run(install, fails=True).output
    assert config.read_bytes() == before.encode("latin-1")


def test_what_codex_wrote_among_ours_stays() -> None:
    """It writes there itself when a person trusts a hook, and keeps comments where they are."""
    trusted = '[hooks.state."/home/me/.codex/config.toml:session_start:0:0"]\ntrusted_hash = "x"\n'
    text = added(PERSONAL, SETTINGS)
    end = text.index("# hindnote: end")

    for whole in (text + trusted, text[:end] + trusted + text[end:]):
        left = removed(whole)
        assert left is not None
        assert not is_there(left)
        assert list(installed(left)) == []
        assert tomllib.loads(left) == tomllib.loads(PERSONAL) | {
            "hooks": tomllib.loads(PERSONAL)["hooks"] | tomllib.loads(trusted)["hooks"]
        }
        assert "# mine, and it stays" in left


lines = st.sampled_from(
    [
        "# note",
        "",
        "a = 1",
        "b.c = 2",
        "[t]",
        "[[u]]",
        "x = 'y'",
        "[hooks.state]",
        "[mcp_servers.z]",
    ]
)


@given(st.lists(lines, max_size=8), st.sampled_from(["", "\n", "\n\n"]), st.booleans())
def test_adding_and_removing_gives_back_any_configuration(
    written: list[str], end: str, ask: bool
) -> None:
    text = "\n".join(written) + end
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return

    whole = added(text, SETTINGS._replace(ask=ask))

    assert removed(whole) == text
    assert set(installed(whole)) == {SETTINGS.command}


# -- the look ----------------------------------------------------------------------


def levels() -> list[tuple[str, str]]:
    return [(finding.level, finding.message) for finding in checks()]


def test_the_doctor_tells_what_is_installed(config: Path) -> None:
    assert ("ok", "has no hindnote") in levels()
    run(install)
    assert levels()[-1][0] == "ok"
    assert "is current" in levels()[-1][1]


def test_the_doctor_finds_a_command_that_is_gone_and_one_that_is_another(config: Path) -> None:
    run(install)
    command = Path(sys.executable).with_name("hindnote")
    other = command.with_name("other")
    shutil.copyfile(command, other)
    other.chmod(0o755)
    config.write_text(config.read_text().replace(str(command), str(other)))
    assert levels()[-1][0] == "warning"
    other.unlink()
    assert levels()[-1] == ("error", f"runs {other}, which is not there")


def test_the_doctor_finds_a_part_that_is_missing(config: Path) -> None:
    run(install)
    text = config.read_text()
    cut = text.index("[[hooks.SubagentStart]]")
    config.write_text(text[:cut] + text[text.index("# hindnote: end") :])

    assert (
        "error",
        "lacks a part of what was installed: the server or one of its hooks",
    ) in levels()


def test_the_doctor_tells_of_a_configuration_that_cannot_be_read(config: Path) -> None:
    config.parent.mkdir()
    config.write_text("a = [")

    assert levels()[-1][0] == "error"


# -- what the hook prints ------------------------------------------------------------


@given(st.integers(1, 400), st.sampled_from(["a", "ä", "你", "👋"]))
def test_a_block_is_made_shorter_until_codex_shows_it_whole(size: int, letter: str) -> None:
    text = fitting(lambda limit: (letter * size * 50)[:limit])

    assert len(text.encode()) <= 10_000
    assert len(text) >= min(size * 50, 9_990 // len(letter.encode()))
