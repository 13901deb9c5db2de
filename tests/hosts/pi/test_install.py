from __future__ import annotations

import hashlib
import json
import os
import sys
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from hindnote.hosts.pi import paths
from hindnote.hosts.pi.install import install, place, uninstall
from hindnote.hosts.pi.paths import MANIFEST, SOURCE, scopes, shipped


def run(command: click.Command, *arguments: str) -> Result:
    return CliRunner().invoke(command, arguments)


def done(command: click.Command, *arguments: str) -> list[str]:
    result = run(command, *arguments)
    assert result.exit_code == 0, result.output
    return result.output.splitlines()


def refused(command: click.Command, *arguments: str) -> str:
    result = run(command, *arguments)
    assert result.exit_code == 1
    return result.output


def tree(folder: Path) -> dict[str, bytes | None]:
    """Return everything below a folder: bytes of files, None for folders."""
    found = sorted(folder.rglob("*"))
    return {str(p.relative_to(folder)): p.read_bytes() if p.is_file() else None for p in found}


@pytest.fixture(autouse=True)
def pi(home: Path, tmp_path: Path) -> Path:
    """A Pi on the PATH."""
    program = tmp_path / "bin" / "pi"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho 1.6.0\n")
    program.chmod(0o755)
    return program


@pytest.fixture
def extension(home: Path) -> Path:
    return home / ".pi" / "agent" / "extensions" / "hindnote"


def test_install_copies_the_extension_and_names_this_interpreter(extension: Path) -> None:
    lines = done(install)

    for name, data in shipped().items():
        assert (extension / name).read_bytes() == data
        assert f"wrote {extension / name}" in lines
    record = place(scopes()[0]).written()
    assert record is not None
    assert record.facts["python"] == sys.executable
    # The extension reads it there.
    assert json.loads((extension / MANIFEST).read_bytes())["python"] == sys.executable


def test_install_without_pi_says_what_is_needed_and_goes_on(extension: Path, pi: Path) -> None:
    pi.unlink()

    first, *_ = done(install)

    assert first.startswith("there is no pi on the PATH; hindnote needs Pi 1.5")
    assert (extension / "index.ts").is_file()


@pytest.mark.parametrize(
    ("version", "told"),
    [
        ("1.4.0", "is Pi 1.4.0, in which not all of it works; hindnote needs Pi 1.5 or newer"),
        ("0.87.1", "is Pi 0.87.1, in which not all of it works; hindnote needs Pi 1.5 or newer"),
        ("what", "does not say which version it is; hindnote needs Pi 1.5 or newer"),
    ],
)
def test_install_warns_of_a_pi_that_is_or_may_be_too_old_and_goes_on(
    extension: Path, pi: Path, version: str, told: str
) -> None:
    pi.write_text(f"#!/bin/sh\necho {version}\n")

    first, *_ = done(install)

    assert first.startswith(f"warning: {pi} ")
    assert told in first
    assert (extension / "index.ts").is_file()


@pytest.mark.parametrize("version", ["1.5.0", "1.10.2", "2.0.0"])
def test_install_says_nothing_of_a_pi_that_is_new_enough(
    extension: Path, pi: Path, version: str
) -> None:
    pi.write_text(f"#!/bin/sh\necho {version}\n")

    assert "warning" not in "\n".join(done(install))
    assert extension.is_dir()


def test_a_folder_that_cannot_be_made_is_told_without_a_trace(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(name: str, *_: Any, **__: Any) -> None:
        raise PermissionError(13, "Permission denied", name)

    monkeypatch.setattr(os, "mkdir", refuse)

    assert f"{home / '.pi'} cannot be changed (Permission denied)" in refused(install)
    assert tree(home) == {}


def test_every_file_of_the_extension_is_installed() -> None:
    assert {path.name for path in SOURCE.iterdir()} == set(shipped())


def test_uninstall_leaves_a_home_as_it_was_before(home: Path) -> None:
    before = tree(home)

    done(install)
    assert tree(home) != before
    done(uninstall)

    assert tree(home) == before


@pytest.mark.parametrize("made", [".pi", ".pi/agent/extensions", ".pi/agent/extensions/hindnote"])
def test_uninstall_leaves_folders_that_were_there_before(home: Path, made: str) -> None:
    (home / made).mkdir(parents=True)
    before = tree(home)

    done(install)
    lines = done(uninstall)

    assert tree(home) == before
    assert not [line for line in lines if line.startswith("left ")]


def test_links_on_the_way_are_followed_and_left(home: Path, tmp_path: Path) -> None:
    (tmp_path / "dotfiles").mkdir()
    (home / ".pi").symlink_to(tmp_path / "dotfiles")

    done(install)
    assert (tmp_path / "dotfiles/agent/extensions/hindnote/index.ts").is_file()
    done(uninstall)

    assert (home / ".pi").is_symlink()
    assert tree(tmp_path / "dotfiles") == {}


def test_an_installation_that_another_python_takes_over_is_told(
    extension: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(sys, "executable", "/old/python")
        done(install)

    assert f"wrote {extension / MANIFEST}" in done(install)
    assert done(install) == [f"nothing to do: {extension} is current"]


def test_uninstall_leaves_what_others_put_beside_it(home: Path, extension: Path) -> None:
    other = extension.parent / "other.ts"
    other.parent.mkdir(parents=True)
    other.write_text("export default () => {}\n")
    (home / ".pi" / "agent" / "settings.json").write_text('{"theme":"dark"}')
    before = tree(home)

    done(install)
    done(uninstall)

    assert tree(home) == before


def test_a_second_install_changes_nothing(home: Path, extension: Path) -> None:
    done(install)
    before = tree(home)

    assert done(install) == [f"nothing to do: {extension} is current"]
    assert tree(home) == before


def test_a_second_uninstall_finds_nothing(home: Path, extension: Path) -> None:
    assert done(uninstall) == [f"nothing to do: {extension} is not installed"]
    assert tree(home) == {}


def test_dry_runs_change_nothing_and_say_what_would_change(home: Path, extension: Path) -> None:
    lines = done(install, "--dry-run")
    assert f"would write {extension / 'index.ts'}" in lines
    assert f"would make {extension}" in lines
    assert tree(home) == {}

    done(install)
    before = tree(home)
    lines = done(uninstall, "--dry-run")
    assert f"would remove {extension / 'index.ts'}" in lines
    assert tree(home) == before


def test_dry_run_and_install_name_the_same_files(home: Path) -> None:
    told = [line.removeprefix("would write ") for line in done(install, "--dry-run")]
    wrote = [line.removeprefix("wrote ") for line in done(install)]

    assert [line for line in told if line.startswith("/")] == [
        line for line in wrote if line.startswith("/")
    ]


def test_project_installs_into_the_current_directory(home: Path) -> None:
    before = tree(Path.cwd())

    done(install, "--project")
    assert (Path.cwd() / ".pi/extensions/hindnote/index.ts").is_file()
    assert tree(home) == {}
    done(uninstall, "--project")

    assert tree(Path.cwd()) == before


def test_who_installs_for_a_project_is_told_not_to_commit_it(extension: Path) -> None:
    told = f"{Path.cwd() / '.pi/extensions/hindnote'} names a Python of this machine: keep it out"

    assert done(install, "--project", "--dry-run")[-1].startswith(told)
    assert done(install, "--project")[-1].startswith(told)
    assert not any("version control" in line for line in done(install, "--project"))
    done(uninstall, "--project")
    assert not any("version control" in line for line in done(install))


def test_the_agent_folder_may_lie_elsewhere(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PI_CODING_AGENT_DIR", str(tmp_path / "elsewhere"))

    done(install)

    assert (tmp_path / "elsewhere/extensions/hindnote/index.ts").is_file()
    assert tree(home) == {}


def test_an_update_replaces_old_files_and_removes_stale_ones(
    home: Path, extension: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = {"index.ts": b"old", "gone.ts": b"gone", "wire.ts": shipped()["wire.ts"]}
    with monkeypatch.context() as patched:
        patched.setattr("hindnote.hosts.pi.install.shipped", lambda: old)
        done(install)

    lines = done(install)

    assert f"removed {extension / 'gone.ts'}" in lines
    assert f"wrote {extension / 'index.ts'}" in lines
    assert f"wrote {extension / 'wire.ts'}" not in lines
    assert {path.name for path in extension.iterdir()} == {*shipped(), MANIFEST}
    done(uninstall)
    assert tree(home) == {}


def test_an_interrupted_update_can_be_taken_up_again(
    home: Path, extension: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr("hindnote.hosts.pi.install.shipped", lambda: {"index.ts": b"old"})
        done(install)

    replace, count = os.replace, 0

    def fail(*names: str, **folders: int) -> None:
        nonlocal count
        count += 1
        if count == 3:
            raise OSError("no space left on device")
        replace(*names, **folders)

    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", fail)
        assert run(install).exit_code != 0

    done(install)
    assert (extension / "index.ts").read_bytes() == shipped()["index.ts"]


def test_a_file_changed_by_hand_is_neither_overwritten_nor_removed(extension: Path) -> None:
    done(install)
    (extension / "index.ts").write_text("// mine\n")

    assert f"{extension / 'index.ts'} is not as hindnote wrote it" in refused(install)
    lines = done(uninstall)

    assert f"left {extension / 'index.ts'}: it was changed since hindnote wrote it" in lines
    assert tree(extension) == {"index.ts": b"// mine\n"}


def test_a_folder_that_hindnote_did_not_write_is_refused(extension: Path) -> None:
    extension.mkdir(parents=True)
    (extension / "index.ts").write_text("// somebody's\n")
    before = tree(extension)

    assert "not written by hindnote" in refused(install)
    assert "not written by hindnote" in refused(uninstall)
    assert tree(extension) == before


@pytest.mark.parametrize("data", ["", "[]", '{"python": 1}', "{", '{"python":"p","version":"1"}'])
def test_a_damaged_manifest_is_no_licence_to_touch_the_folder(extension: Path, data: str) -> None:
    done(install)
    (extension / MANIFEST).write_text(data)
    before = tree(extension)

    refused(uninstall)
    assert tree(extension) == before


@pytest.mark.parametrize("key", ["packages", "extensions"])
def test_a_folder_that_pi_references_stands_against_a_copy(home: Path, key: str) -> None:
    agent = home / ".pi" / "agent"
    agent.mkdir(parents=True)
    (agent / "settings.json").write_text(json.dumps({key: ["npm:x", str(SOURCE)]}))

    assert f"pi remove {SOURCE}" in refused(install)
    assert f"pi remove {SOURCE}" in refused(install, "--project")
    assert f"left {SOURCE}" in done(uninstall)[0]


def test_relative_and_typed_references_are_found(home: Path) -> None:
    agent = home / ".pi" / "agent"
    agent.mkdir(parents=True)
    (home / "hn").symlink_to(SOURCE)
    entries = [{"source": "../../hn"}, "../../missing", "-../../hn/index.ts", 5]
    (agent / "settings.json").write_text(json.dumps({"packages": entries}))

    [scope, _] = paths.scopes()
    assert list(scope.referenced()) == [SOURCE.resolve()]


def test_a_second_place_is_refused_since_pi_would_load_both(extension: Path) -> None:
    done(install)
    assert "hindnote uninstall pi\n" in refused(install, "--project")
    done(uninstall)
    done(install, "--project")
    assert "hindnote uninstall pi --project" in refused(install)


@pytest.mark.parametrize("command", [install, uninstall])
def test_a_repository_s_manifest_cannot_have_files_outside_removed(
    tmp_path: Path, command: click.Command
) -> None:
    valuable = tmp_path / "valuable" / ".git" / "HEAD"
    valuable.parent.mkdir(parents=True)
    valuable.write_bytes(b"ref: refs/heads/main\n")
    digest = hashlib.sha256(valuable.read_bytes()).hexdigest()
    folder = Path(".pi/extensions/hindnote")
    folder.mkdir(parents=True)
    name = "../../../../valuable/.git/HEAD"
    claims = {
        "python": "p",
        "version": "1",
        "files": {name: [digest]},
        "made": [".", "..", "../.."],
    }
    (folder / MANIFEST).write_text(json.dumps(claims))

    told = refused(command, "--project")

    assert f"names the file '{name}', which hindnote does not write" in told
    assert valuable.read_bytes() == b"ref: refs/heads/main\n"


@pytest.mark.parametrize("linked", [".pi", ".pi/extensions", ".pi/extensions/hindnote"])
def test_a_repository_s_link_cannot_have_the_person_s_installation_removed(
    home: Path, extension: Path, linked: str
) -> None:
    done(install)
    before = tree(home)
    own = {".pi": ".pi/agent", ".pi/extensions": ".pi/agent/extensions"}
    Path(linked).parent.mkdir(parents=True, exist_ok=True)
    Path(linked).symlink_to(home / own.get(linked, ".pi/agent/extensions/hindnote"))

    assert f"{Path.cwd() / linked} is a link" in refused(uninstall, "--project")
    assert tree(home) == before


@pytest.mark.parametrize("command", [install, uninstall])
@pytest.mark.parametrize("value", ["somewhere", "./x", "~someone/x"])
@pytest.mark.parametrize(
    "name",
    ["PI_CODING_AGENT_DIR", "PI_CODING_AGENT_SESSION_DIR", "HINDNOTE_HOME", "HINDNOTE_PYTHON"],
)
def test_a_variable_that_is_no_whole_path_is_refused_with_the_reason(
    home: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str, command: click.Command
) -> None:
    monkeypatch.setenv(name, value)

    result = run(command)

    assert result.exit_code == 1
    assert f"{name} is '{value}', which is no whole path" in result.output
    assert list(Path.cwd().iterdir()) == []


def test_pi_s_own_tilde_is_the_home_directory(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PI_CODING_AGENT_DIR", "~/pi")

    done(install)

    assert (home / "pi/extensions/hindnote/index.ts").is_file()
    assert list(Path.cwd().iterdir()) == []


def test_an_interpreter_that_will_vanish_is_told_with_the_way_that_lasts(
    extension: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "warning" not in run(install).output
    gone = "/home/a/.cache/uv/archive-v0/5v57KAcb2biv6m1y/bin/python"
    monkeypatch.setattr("sys.executable", gone)

    result = run(install)

    assert result.exit_code == 0
    *_, warning = result.output.splitlines()
    assert warning.startswith(f"warning: {gone} lies in uv's cache")
    assert warning.endswith("`pipx install`, and run its `hindnote install pi`")
