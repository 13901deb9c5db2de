from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from hindnote.core.doctor import Finding
from hindnote.hosts.pi.doctor import checks
from hindnote.hosts.pi.install import install, uninstall
from hindnote.hosts.pi.places import MANIFEST, SOURCE

INSTALLED = Path(".pi/agent/extensions/hindnote")


def program(home: Path, name: str, script: str) -> None:
    folder = home.parent / "bin"
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def put() -> None:
    assert CliRunner().invoke(install).exit_code == 0


def found(subject: str) -> list[Finding]:
    return [finding for finding in checks() if finding.subject == subject]


def levels() -> set[str]:
    return {finding.level for finding in checks()}


@pytest.fixture
def sound(home: Path) -> Path:
    """A home with good programs and a current installation."""
    program(home, "node", "echo v22.19.0")
    program(home, "pi", "echo 1.6.0")
    put()
    return home


def test_nothing_is_wrong_without_pi(home: Path) -> None:
    assert levels() == {"ok"}


def test_nothing_is_wrong_after_an_installation(sound: Path) -> None:
    assert levels() == {"ok"}


@pytest.mark.parametrize(
    ("name", "script", "level"),
    [
        ("node", "echo v22.18.9", "error"),
        ("node", "echo v24.0.0", "ok"),
        ("node", "exit 1", "error"),
        ("node", "printf '\\377'", "error"),
        ("pi", "echo 1.5.9", "error"),
        ("pi", "echo 1.7.0 >&2", "warning"),
        ("pi", "echo unknown", "error"),
    ],
)
def test_programs_are_judged_by_their_version(
    sound: Path, name: str, script: str, level: str
) -> None:
    program(sound, name, script)

    assert [finding.level for finding in found(name)] == [level]


def test_an_interpreter_that_is_gone_is_an_error(sound: Path) -> None:
    manifest = sound / INSTALLED / MANIFEST
    data = json.loads(manifest.read_text())
    manifest.write_text(json.dumps({**data, "python": "/gone/python"}))

    assert "error" in levels()


def test_an_interpreter_without_hindnote_is_an_error(sound: Path) -> None:
    manifest = sound / INSTALLED / MANIFEST
    data = json.loads(manifest.read_text())
    manifest.write_text(json.dumps({**data, "python": "/bin/false"}))

    [finding, _] = found(str(sound / INSTALLED))

    assert (finding.level, finding.message) == (
        "error",
        "runs /bin/false, which has no hindnote",
    )
    assert "hindnote install pi" in finding.advice


def test_an_interpreter_that_the_environment_names_is_looked_at_instead(
    sound: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HINDNOTE_PYTHON", "/bin/false")

    [finding] = found("HINDNOTE_PYTHON")

    assert (finding.level, finding.message) == (
        "error",
        "names /bin/false, which has no hindnote",
    )
    assert sys.executable in finding.advice


def test_missing_edited_and_old_files_are_told_apart(
    sound: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = sound / INSTALLED
    index = folder / "index.ts"
    original = index.read_bytes()

    index.unlink()
    assert [f.level for f in found(str(folder))] == ["error"]
    index.write_text("// mine")
    assert [f.level for f in found(str(folder))] == ["warning"]
    index.write_bytes(original)
    monkeypatch.setattr("hindnote.hosts.pi.doctor.shipped", lambda: {"index.ts": b"newer"})
    assert [f.level for f in found(str(folder))] == ["error"]


def test_a_folder_without_manifest_is_an_error_unless_it_is_empty(home: Path) -> None:
    (home / INSTALLED).mkdir(parents=True)
    assert levels() == {"ok"}

    (home / INSTALLED / "index.ts").write_text("// somebody's")
    assert [finding.level for finding in found(str(home / INSTALLED))] == ["error"]


def test_what_an_uninstall_left_is_told_and_nothing_against_it(sound: Path) -> None:
    folder = sound / INSTALLED
    (folder / "index.ts").write_text("// mine")
    left = CliRunner().invoke(uninstall).output
    assert f"left {folder}: it holds files that hindnote did not write" in left

    [finding] = found(str(folder))
    assert finding.level == "error"
    assert "was changed before it was uninstalled" in finding.message
    # Nothing can be installed there before it is moved away.
    assert found("Pi extension") == []
    folder.rename(sound / "away")
    [finding] = found("Pi extension")
    assert finding.level == "ok"


def test_an_uninstall_leaves_nothing_to_be_told(home: Path) -> None:
    (home / INSTALLED).mkdir(parents=True)
    put()
    assert CliRunner().invoke(uninstall).exit_code == 0

    assert [finding.message for finding in found("Pi extension")] == ["is not installed"]
    assert found(str(home / INSTALLED)) == []


def test_two_installations_are_an_error(sound: Path) -> None:
    settings = sound / ".pi/agent/settings.json"
    settings.write_text(json.dumps({"packages": [str(SOURCE)]}))

    [finding] = found("Pi extension")
    assert finding.level == "error"
    assert str(SOURCE) in finding.message


def test_an_extension_that_pi_loads_where_it_lies_is_told(home: Path) -> None:
    other = home / "other"
    other.mkdir()
    (other / "package.json").write_text('{"name": "hindnote"}')
    settings = home / ".pi/agent/settings.json"
    settings.parent.mkdir(parents=True)
    program(home, "python3", f'exec {sys.executable} "$@"')

    for folder, level, told in ((SOURCE, "ok", "is current"), (other, "error", "another hindnote")):
        settings.write_text(json.dumps({"packages": [str(folder)]}))
        [finding] = found(str(folder))
        assert finding.level == level
        assert finding.message.startswith("is what Pi's global settings load")
        assert told in finding.message
        assert found("Pi extension") == []


@pytest.mark.parametrize(
    ("script", "told"),
    [
        ("exit 1", "runs {folder}/python3, which has no hindnote"),
        (None, "runs the python3 of the PATH, which cannot be run"),
    ],
)
def test_an_extension_that_pi_loads_where_it_lies_needs_hindnote_in_the_python_of_the_path(
    home: Path, script: str | None, told: str
) -> None:
    settings = home / ".pi/agent/settings.json"
    settings.parent.mkdir(parents=True)
    settings.write_text(json.dumps({"packages": [str(SOURCE)]}))
    if script is not None:
        program(home, "python3", script)

    [finding] = found(str(SOURCE))

    assert finding.level == "error"
    assert told.format(folder=home.parent / "bin") in finding.message
    assert f"set HINDNOTE_PYTHON to {sys.executable}, or `pi remove {SOURCE}`" in finding.advice


def test_other_extensions_with_our_names_are_told(sound: Path) -> None:
    other = sound / ".pi/agent/extensions/other.ts"
    other.write_text("pi.registerTool({ name: 'notes_read' });")

    [finding] = found(str(other))
    assert finding.level == "warning"
    assert "notes_read" in finding.message
