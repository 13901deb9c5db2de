from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from hindnote.core.doctor import Finding
from hindnote.hosts.pi.doctor import checks
from hindnote.hosts.pi.install import install, uninstall
from hindnote.hosts.pi.paths import MANIFEST, SOURCE

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
        ("pi", "echo 1.4.9", "error"),
        ("pi", "echo 1.5.0", "ok"),
        ("pi", "echo 1.6.2", "ok"),
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

    [finding] = found(str(sound / INSTALLED))
    assert finding.level == "error"
    assert finding.message.startswith("runs /gone/python, which cannot be run")


def test_an_interpreter_without_hindnote_is_an_error(sound: Path) -> None:
    manifest = sound / INSTALLED / MANIFEST
    data = json.loads(manifest.read_text())
    manifest.write_text(json.dumps({**data, "python": "/bin/false"}))

    [finding] = found(str(sound / INSTALLED))

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


def test_an_old_extension_that_was_changed_as_well_is_both(
    sound: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = sound / INSTALLED
    (folder / "index.ts").write_text("// mine")
    monkeypatch.setattr("hindnote.hosts.pi.doctor.shipped", lambda: {"index.ts": b"newer"})

    edited, old = found(str(folder))

    assert (edited.level, edited.message) == ("warning", "was changed by hand: index.ts")
    assert old.level == "error"
    assert "another version of hindnote" in old.message
    assert "move the changed files away" in old.advice


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
        (None, "runs the python3 of the PATH, where there is none"),
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


# -- what a project may have chosen ----------------------------------------------


@pytest.fixture
def evil(home: Path) -> Path:
    """A program in the project that leaves a trace when it is run."""
    script = Path.cwd() / "evil.sh"
    script.write_text(f"#!/bin/sh\ntouch {home.parent / 'ran'}\n")
    script.chmod(0o755)
    return script


def name_in_project(home: Path, where: str, python: str) -> None:
    """Let a project's own file name the interpreter, in one of three places."""
    claims = json.dumps({"python": python, "version": "1", "files": {}, "made": []})
    folder = Path(".pi/extensions/hindnote" if where == "installed" else "vendor")
    folder.mkdir(parents=True)
    (folder / MANIFEST).write_text(claims)
    (folder / "package.json").write_text('{"name": "hindnote"}')
    settings = Path(".pi/settings.json") if where == "project" else home / ".pi/agent/settings.json"
    if where != "installed":
        settings.parent.mkdir(parents=True, exist_ok=True)
        settings.write_text(json.dumps({"packages": [str(Path.cwd() / "vendor")]}))


@pytest.mark.parametrize("where", ["installed", "project", "global"])
@pytest.mark.parametrize("python", ["./evil.sh", "evil.sh", "{evil}", "{link}"])
def test_a_program_that_a_project_names_is_told_and_never_run(
    home: Path, evil: Path, where: str, python: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f".::{evil.parent}")
    link = home / "link"
    link.symlink_to(evil)
    name_in_project(home, where, python.format(evil=evil, link=link))

    told = [finding for finding in checks() if "it was not run" in finding.message]

    assert len(told) == 1
    assert not (home.parent / "ran").exists()


def test_an_absolute_program_outside_that_a_project_names_is_not_run_either(
    home: Path, evil: Path
) -> None:
    outside = home.parent / "outside.sh"
    evil.rename(outside)
    name_in_project(home, "installed", str(outside))

    [finding] = [found for found in checks() if "it was not run" in found.message]

    assert "was chosen by this project" in finding.message
    assert not (home.parent / "ran").exists()


@pytest.mark.parametrize("named", ["./evil.sh", "{evil}"])
def test_a_variable_that_names_a_file_of_the_project_has_nothing_run(
    sound: Path, evil: Path, named: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HINDNOTE_PYTHON", named.format(evil=evil))

    [finding] = found("HINDNOTE_PYTHON")

    assert "it was not run" in finding.message
    assert not (sound.parent / "ran").exists()


@pytest.mark.parametrize("folder", ["", ".", "bin", "{project}/bin"])
@pytest.mark.parametrize("name", ["pi", "node", "python3"])
def test_a_program_of_the_path_that_lies_in_the_project_is_not_run(
    sound: Path, evil: Path, folder: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place in (Path(), Path("bin")):
        place.mkdir(exist_ok=True)
        (place / name).symlink_to(evil)
    own = sound.parent / "bin"
    monkeypatch.setenv("PATH", f"{folder.format(project=evil.parent)}:{own}")

    assert levels() == {"ok"}
    assert not (sound.parent / "ran").exists()


def test_the_programs_that_are_run_are_told_before(sound: Path) -> None:
    told = [finding.message for finding in checks() if finding.subject == "runs"]

    own = sound.parent / "bin"
    assert told[:2] == [f"{own}/node --version", f"{own}/pi --version"]
    assert told[2].startswith(f"{sys.executable} -E -P -c ")
    assert len(told) == 3


@pytest.mark.parametrize("file", ["settings.json", "vendor/package.json", "vendor/install.json"])
@pytest.mark.parametrize("kind", ["pipe", "device", "huge", "deep"])
def test_what_stands_in_the_place_of_a_project_s_file_is_never_waited_for(
    sound: Path, file: str, kind: str
) -> None:
    name_in_project(sound, "project", sys.executable)
    path = Path(".pi/settings.json") if file == "settings.json" else Path(file)
    path.unlink()
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    elif kind == "huge":
        with path.open("wb") as huge:
            huge.truncate(1 << 36)
    else:
        path.write_text("[" * 100_000)

    assert list(checks())


def test_a_pipe_among_other_extensions_is_never_waited_for(sound: Path) -> None:
    os.mkfifo(sound / ".pi/agent/extensions/other.ts")

    assert levels() == {"ok"}
