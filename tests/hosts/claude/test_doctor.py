from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from hindnote.core.doctor import Finding
from hindnote.hosts.claude.doctor import checks
from hindnote.hosts.claude.install import (
    install,
    marketplace_files,
    marketplace_place,
    skills_place,
)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    claude(tmp_path, "2.1.332 (Claude Code)")


def claude(tmp_path: Path, version: str) -> None:
    script = tmp_path / "bin" / "claude"
    script.parent.mkdir(exist_ok=True)
    script.write_text(f'#!/bin/sh\necho "{version}"\n')
    script.chmod(0o755)


def installed() -> Path:
    assert CliRunner().invoke(install).exit_code == 0
    return skills_place().folder


def wrong() -> list[Finding]:
    return [finding for finding in checks() if finding.level != "ok"]


def test_a_whole_installation_has_nothing_wrong() -> None:
    folder = installed()

    found = list(checks())

    assert wrong() == []
    assert [finding.subject for finding in found if finding.subject != "runs"][1:] == [str(folder)]


def test_no_installation_is_nothing_wrong(tmp_path: Path) -> None:
    (tmp_path / "bin" / "claude").unlink()

    assert wrong() == []
    assert not (tmp_path / "home").exists()


def test_a_plugin_of_somebody_else_is_found() -> None:
    skills_place().folder.mkdir(parents=True)
    assert wrong() == []

    (skills_place().folder / "theirs").touch()
    [finding] = wrong()
    assert "was not written by hindnote" in finding.message
    assert not any(finding.message == "is not installed" for finding in checks())


@pytest.mark.parametrize(
    ("version", "level"), [("2.1.300 (Claude Code)", "error"), ("what", "error")]
)
def test_an_unusable_claude_is_found(tmp_path: Path, version: str, level: str) -> None:
    claude(tmp_path, version)

    assert [finding.level for finding in wrong()] == [level]


def test_a_changed_file_is_found() -> None:
    folder = installed()
    (folder / "hooks" / "tools.ts").write_text("")

    [finding] = wrong()
    assert (finding.level, finding.subject) == ("warning", str(folder))
    assert finding.message == "was changed by hand: hooks/tools.ts"


def test_a_missing_file_is_found() -> None:
    folder = installed()
    (folder / "hooks" / "tools.ts").unlink()

    [finding] = wrong()
    assert (finding.level, finding.message) == ("error", "lacks hooks/tools.ts")


def test_an_old_plugin_that_was_changed_as_well_is_both(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = installed()
    (folder / "hooks" / "tools.ts").write_text("")
    monkeypatch.setattr("hindnote.hosts.claude.doctor.plugin_files", lambda: {"README.md": b"new"})

    edited, old = wrong()

    assert edited.message == "was changed by hand: hooks/tools.ts"
    assert (old.level, old.subject) == ("error", str(folder))
    assert "another version of hindnote" in old.message


@pytest.mark.parametrize(
    ("scope", "file"),
    [
        ("user", "home/.claude/settings.json"),
        ("project", "project/.claude/settings.json"),
        ("local", "project/.claude/settings.local.json"),
    ],
)
def test_a_plugin_that_is_switched_off_is_told_with_the_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scope: str, file: str
) -> None:
    settings = tmp_path / file
    settings.parent.mkdir(parents=True)
    settings.write_text('{"enabledPlugins": {"hindnote@skills-dir": false}}')
    (tmp_path / "project").mkdir(exist_ok=True)
    monkeypatch.chdir(tmp_path / "project")
    installed()

    [finding] = wrong()

    assert finding.level == "warning"
    assert finding.message.startswith(f"is switched off in {settings}")
    assert f"claude plugin enable hindnote@skills-dir --scope {scope}" in finding.advice


@pytest.mark.parametrize(
    ("user", "project", "local", "on"),
    # What Claude Code 2.1.332 lists for them.
    [
        (False, True, None, True),
        (False, None, True, True),
        (True, False, None, False),
        (True, False, True, True),
        (True, True, False, False),
        (None, None, None, True),
    ],
)
def test_the_nearest_setting_decides_whether_a_plugin_is_on(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    user: bool | None,
    project: bool | None,
    local: bool | None,
    on: bool,
) -> None:
    theirs = tmp_path / "project" / ".claude"
    theirs.mkdir(parents=True)
    installed()
    files = {
        tmp_path / "home" / ".claude" / "settings.json": user,
        theirs / "settings.json": project,
        theirs / "settings.local.json": local,
    }
    for file, enabled in files.items():
        named = {} if enabled is None else {"hindnote@skills-dir": enabled}
        file.write_text(json.dumps({"enabledPlugins": named}))
    monkeypatch.chdir(theirs.parent)

    assert (wrong() == []) is on


@pytest.mark.parametrize("data", ["{", "[]", '{"enabledPlugins": 5}', "[" * 100_000])
def test_settings_that_say_nothing_of_plugins_switch_nothing_off(tmp_path: Path, data: str) -> None:
    installed()
    (tmp_path / "home" / ".claude" / "settings.json").write_text(data)

    assert wrong() == []


def test_a_marketplace_that_claude_did_not_install_from_is_told(tmp_path: Path) -> None:
    list(marketplace_place().put(marketplace_files()))

    [finding] = wrong()
    assert finding.subject == "hindnote@hindnote"
    assert finding.message.startswith("is not switched on in")

    settings = tmp_path / "home" / ".claude" / "settings.json"
    settings.parent.mkdir(parents=True)
    settings.write_text('{"enabledPlugins": {"hindnote@hindnote": true}}')
    assert wrong() == []


def switch(file: Path, **plugins: object) -> None:
    """Write settings that name plugins of hindnote's name, by what stands behind the ``@``."""
    file.parent.mkdir(parents=True, exist_ok=True)
    named = {f"hindnote@{source}".replace("_", "-"): value for source, value in plugins.items()}
    file.write_text(json.dumps({"enabledPlugins": named}))


@pytest.mark.parametrize(
    ("source", "value"),
    # Claude Code 2.1.332 loads none of them from the skills folder then.
    [("skills_dir", False), ("skills_dir", True), ("other", True), ("other", ["1.0"])],
)
def test_managed_settings_that_take_the_name_keep_the_skills_folders_plugin_out(
    tmp_path: Path, managed: Path, source: str, value: object
) -> None:
    installed()
    switch(tmp_path / "home/.claude/settings.json", skills_dir=True)
    switch(managed / "managed-settings.json", **{source: value})

    [finding] = wrong()

    assert (finding.level, finding.subject) == ("warning", "hindnote@skills-dir")
    file = managed / "managed-settings.json"
    assert finding.message == f"is named like a plugin in {file}, so Claude Code does not load it"
    assert finding.advice == "whoever administers this machine can change that file"


@pytest.mark.parametrize(
    ("user", "base", "part", "on"),
    # What Claude Code 2.1.332 makes of them.
    [
        (True, False, None, False),
        (False, True, None, True),
        (True, False, True, True),
        (False, True, False, False),
        (True, None, False, False),
        (True, None, None, True),
    ],
)
def test_managed_settings_decide_about_a_marketplaces_plugin(
    tmp_path: Path,
    managed: Path,
    user: bool | None,
    base: bool | None,
    part: bool | None,
    on: bool,
) -> None:
    list(marketplace_place().put(marketplace_files()))
    for file, value in (
        (tmp_path / "home/.claude/settings.json", user),
        (managed / "managed-settings.json", base),
        (managed / "managed-settings.d/10-plugins.json", part),
    ):
        switch(file, **({} if value is None else {"hindnote": value}))
    # Claude Code reads none of these two.
    switch(managed / "managed-settings.d/.hidden.json", hindnote=not on)
    switch(managed / "managed-settings.d/20-plugins.txt", hindnote=not on)

    assert (wrong() == []) is on


def test_a_damaged_manifest_is_found() -> None:
    folder = installed()
    (folder / ".hindnote.json").write_text("{")

    assert [finding.level for finding in wrong()] == ["error"]


@pytest.mark.parametrize("name", ["README.md", "hooks/added.ts"])
def test_an_installation_of_another_version_is_found(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    folder = installed()
    newer = {name: b"newer"}
    monkeypatch.setattr("hindnote.hosts.claude.doctor.plugin_files", lambda: newer)

    assert [(finding.level, finding.subject) for finding in wrong()] == [("error", str(folder))]


@pytest.mark.parametrize(
    ("python", "said"), [("/nowhere/python", "cannot be run"), ("/bin/false", "has no hindnote")]
)
def test_a_python_that_cannot_run_the_helper_is_found(
    monkeypatch: pytest.MonkeyPatch, python: str, said: str
) -> None:
    monkeypatch.setattr("sys.executable", python)
    installed()

    (found,) = wrong()

    assert found.subject == python
    assert said in found.message
    assert "hindnote install claude" in found.advice


def test_two_installations_are_found(install_twice: Callable[[], None]) -> None:
    install_twice()

    assert any("twice" in finding.message for finding in wrong())


@pytest.fixture
def install_twice(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    def twice() -> None:
        installed()
        list(marketplace_place().put(marketplace_files()))

    return twice


def test_the_programs_that_are_run_are_told_before() -> None:
    installed()

    told = [finding.message for finding in checks() if finding.subject == "runs"]

    assert [line.split()[0].rpartition("/")[2] for line in told] == [
        "claude",
        sys.executable.rpartition("/")[2],
    ]


def test_a_python_that_the_project_holds_is_told_and_never_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran, script = tmp_path / "ran", tmp_path / "project" / "evil.sh"
    script.parent.mkdir()
    script.write_text(f"#!/bin/sh\ntouch {ran}\n")
    script.chmod(0o755)
    monkeypatch.chdir(script.parent)
    with monkeypatch.context() as patched:
        patched.setattr("sys.executable", str(script))
        installed()

    (found,) = wrong()

    assert "lies in this project; it was not run" in found.message
    assert not ran.exists()
