from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from hindnote.core.install import lock as installing
from hindnote.core.install.lock import alone, lock_file
from hindnote.hosts.claude import install as claude
from hindnote.hosts.pi import install as pi

COMMANDS = [pi.install, pi.uninstall, claude.install, claude.uninstall]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    home.mkdir()
    (tmp_path / "temporary").mkdir()
    for name in ("PI_CODING_AGENT_DIR", "CLAUDE_CONFIG_DIR", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    monkeypatch.chdir(home)
    return home


@pytest.fixture
def other() -> Iterator[None]:
    """Another process is at work."""
    with lock_file().open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def run(command: object) -> Result:
    return CliRunner().invoke(command)  # type: ignore[arg-type]


@pytest.mark.usefixtures("other")
@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_touches_a_host_while_another_one_does(
    home: Path, monkeypatch: pytest.MonkeyPatch, command: object
) -> None:
    monkeypatch.setattr(installing, "WAIT_SECONDS", 0)

    result = run(command)

    assert result.exit_code == 1
    assert "another hindnote has been installing or uninstalling" in result.output
    assert "nothing was changed, try again" in result.output
    assert list(home.iterdir()) == []


def test_one_that_is_ready_soon_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    with lock_file().open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        # The other one ends while this one waits for its second look.
        monkeypatch.setattr("time.sleep", lambda _: fcntl.flock(file, fcntl.LOCK_UN))
        with alone():
            pass


@pytest.mark.parametrize("command", COMMANDS)
def test_the_lock_lies_in_no_home(home: Path, command: object) -> None:
    before = list(home.iterdir())
    run(command)
    run(pi.uninstall)
    run(claude.uninstall)

    assert list(home.iterdir()) == before
    assert lock_file().exists()


def test_one_that_fails_leaves_the_next_one_free() -> None:
    with pytest.raises(ZeroDivisionError), alone():
        raise ZeroDivisionError
    with alone():
        pass


def test_a_lock_that_cannot_be_made_is_told(home: Path) -> None:
    lock_file().mkdir()

    result = run(pi.install)

    assert result.exit_code == 1
    assert f"{lock_file()} cannot be changed" in result.output
    assert list(home.iterdir()) == []


def test_a_link_in_the_place_of_the_lock_is_refused_and_its_target_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hindnote.core.install.lock.lock_file", lambda: tmp_path / "lock")
    (tmp_path / "valuable").write_text("mine")
    (tmp_path / "lock").symlink_to(tmp_path / "valuable")

    with pytest.raises(OSError, match="not a regular file"), alone():
        pass

    assert (tmp_path / "valuable").read_text() == "mine"


def test_a_pipe_in_the_place_of_the_lock_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hindnote.core.install.lock.lock_file", lambda: tmp_path / "lock")
    os.mkfifo(tmp_path / "lock")

    with pytest.raises(OSError, match="not a regular file"), alone():
        pass
