"""Installing for a project whose folders are exchanged for links meanwhile."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from hindnote.core.install.managed_folder import NotOurs
from hindnote.hosts.pi.install import install, place, uninstall
from hindnote.hosts.pi.paths import scopes, shipped

Rounds = Callable[[int], int]

SWAPS = """
import os, random, sys
chance = random.Random(13)
pairs = [place.split("=", 1) for place in sys.argv[1:]]
print("ready", flush=True)
while os.getppid() == int(os.environ["PARENT"]):
    place, outside = chance.choice(pairs)
    aside = f"{os.environ['ASIDE']}/{chance.random()}"
    try:
        os.rename(place, aside)
    except FileNotFoundError:
        # Not installed at this moment.
        continue
    try:
        os.symlink(outside, place)
        for _ in range(chance.randrange(2_000)):
            pass
        os.unlink(place)
    except OSError:
        # A folder was made in its place, or the one around it has gone.
        pass
    try:
        os.rename(aside, place)
    except OSError:
        # It stays where it is: the next installation makes a new one.
        pass
    for _ in range(chance.randrange(20_000)):
        pass
"""


@contextmanager
def swapping(places: dict[Path, Path], aside: Path) -> Iterator[None]:
    """Exchange one place after the other for a link to where it leads, and back."""
    aside.mkdir()
    process = subprocess.Popen(
        [sys.executable, "-c", SWAPS, *(f"{one}={other}" for one, other in places.items())],
        stdout=subprocess.PIPE,
        env={**os.environ, "PARENT": str(os.getpid()), "ASIDE": str(aside)},
    )
    assert process.stdout is not None
    process.stdout.readline()
    try:
        yield
    finally:
        alive = process.poll() is None
        process.kill()
        process.communicate()
        assert alive, "it ended before the installations did"


def snapshot(folder: Path) -> dict[str, tuple[object, ...]]:
    found = {}
    for path in [folder, *folder.rglob("*")]:
        status = path.lstat()
        content = path.read_bytes() if path.is_file() else None
        found[str(path)] = (status.st_ino, status.st_mtime_ns, status.st_mode, content)
    return found


def by_command(command: click.Command) -> bool:
    """Run a command; return whether it did what it is for."""
    result = CliRunner().invoke(command, ["--project"])
    assert result.exit_code in (0, 1), result.output
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result.exit_code == 0


def by_hand(command: click.Command, files: dict[str, bytes]) -> bool:
    """Do what a command does to the folder, without all that it looks at before."""
    there = place(scopes()[1])
    try:
        _ = [*(there.put(files) if command is install else there.take_away())]
    except (NotOurs, OSError):
        return False
    return True


@pytest.mark.campaign
@pytest.mark.usefixtures("home")
def test_nothing_outside_is_made_changed_or_removed_while_folders_become_links(
    tmp_path: Path, rounds: Rounds
) -> None:
    project, outside = tmp_path / "project", tmp_path / "outside"
    aside = tmp_path / "aside"
    few = dict(list(shipped().items())[:2])
    # Outside lies a whole installation, which whoever follows links would take for its own.
    assert by_hand(install, few)
    shutil.copytree(project / ".pi", outside / ".pi")
    (outside / "empty").mkdir()
    before = snapshot(outside)
    hindnote = Path(".pi", "extensions", "hindnote")
    swapped = [*[hindnote, *hindnote.parents][:-1], *(hindnote / name for name in few)]

    done = {install: 0, uninstall: 0}
    with swapping({project / one: outside / one for one in swapped}, aside):
        for number in range(rounds(20_000)):
            command = (install, uninstall)[number % 2]
            worked = by_command(command) if number % 50 < 2 else by_hand(command, few)
            done[command] += worked
            if not worked and number % 10 == 0:
                # What was left half done stands in the way of all that comes after it.
                with suppress(OSError):
                    Path(".pi").rename(aside / f"old{number}")

    assert snapshot(outside) == before
    assert min(done.values()) > rounds(20_000) // 100, done
