"""Races and kills by the thousand. ``tox -e thorough`` runs them whole, any other run a tenth."""

from __future__ import annotations

import json
import mmap
import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hindnote.core.errors import Refusal

pytestmark = [pytest.mark.campaign, pytest.mark.folder_home]

Rounds = Callable[[int], int]


@pytest.fixture
def start() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start a Python script; it ends with the test. It is ready when it has printed a line."""
    started: list[subprocess.Popen[str]] = []

    def run(script: str, *arguments: object) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-c", script, *map(str, arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        return process

    yield run
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture
def no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """These are races between processes, which share what the disk has not got yet."""
    monkeypatch.setattr(os, "fsync", lambda _: None)


# -- folders that are exchanged for links ------------------------------------------

SWAPS = """
import os, random, sys
home, outside = sys.argv[1:]
random.seed(sys.argv[1])
places = [f"{home}/{name}" for name in ("human", "human/a", "human/a/b", ".hindnote", ".hindnote/locks")]
print("ready", flush=True)
while True:
    place = random.choice(places)
    try:
        os.rename(place, f"{home}/aside")
        os.symlink(outside, place)
        for _ in range(random.randrange(300)):
            pass
        os.unlink(place)
        os.rename(f"{home}/aside", place)
    except OSError:
        # An operation made the folder again meanwhile: it gives way to the real one.
        with_links = [each for each in places if os.path.islink(each)]
        for each in with_links:
            os.unlink(each)
        if os.path.isdir(f"{home}/aside"):
            os.rename(place, f"{home}/gone{random.random()}")
            os.rename(f"{home}/aside", place)
"""


def snapshot(folder: Path) -> dict[str, tuple[object, ...]]:
    return {
        str(path): (status.st_ino, status.st_mtime_ns, status.st_size, status.st_nlink)
        for path in [folder, *folder.rglob("*")]
        for status in [path.lstat()]
    }


def operations(chance: random.Random, number: int) -> tuple[str, dict[str, object]]:
    """Return one of the operations, on an address whose folders come and go."""
    address = "@human/" + chance.choice(["x", "a/x", "a/b/x", "a/b/y", "secret", "a/secret"])
    edit = {"old_text": "body", "new_text": "a body"}
    return chance.choice(
        [
            ("notes_read", {"address": address}),
            ("notes_read", {"address": address}),
            ("notes_list", {"glob": "@human/**"}),
            ("notes_search", {"query": "outside", "glob": "@human/**"}),
            ("notes_write", {"address": address, "content": f"body {number}"}),
            ("notes_update", {"address": address, "edits": [edit]}),
            ("notes_update", {"address": address, "rename_to": f"@human/a/b/r{number % 3}"}),
            ("notes_update", {"address": f"@human/a/b/r{number % 3}", "rename_to": address}),
        ]
    )


@pytest.mark.usefixtures("no_waiting_for_the_disk")
def test_nothing_outside_is_made_read_or_changed_while_folders_become_links(
    agent: Any, tmp_path: Path, rounds: Rounds, start: Callable[..., Any]
) -> None:
    outside = tmp_path / "outside"
    for folder in (outside, outside / "a/b", outside / "b", outside / "locks"):
        folder.mkdir(parents=True, exist_ok=True)
        for name in ("x.md", "y.md", "secret.md", "r0.md", "reads.jsonl"):
            (folder / name).write_text("outside body")
    agent.write(address="@human/a/b/x", content="body")
    agent.write(address="@human/x", content="body")
    before = snapshot(outside)
    start(SWAPS, agent.home, outside)
    chance = random.Random(13)

    worked = 0
    for number in range(rounds(20_000)):
        name, arguments = operations(chance, number)
        outcome = agent.outcome(name, **arguments)
        if isinstance(outcome, Refusal):
            assert "outside body" not in outcome.message
            continue
        worked += 1
        assert "outside body" not in outcome.data.model_dump_json()

    assert snapshot(outside) == before
    assert worked > rounds(1_000)


# -- an editor beside constant updates ---------------------------------------------

UPDATES = """
import mmap, os, sys
from pathlib import Path
from hindnote.core.plugins.models import Identity
from hindnote.core.notes.edits import Replacement
from hindnote.core.notes.store import Store
from hindnote.core.errors import Refused

os.fsync = lambda _: None
home = Path(sys.argv[1])
with open(sys.argv[2], "r+b") as file:
    done = mmap.mmap(file.fileno(), 8)
store = Store(Identity(home, "pi", "s1", "me", "m"), "shop-0123abcd")
note = store.homes.parse("@human/plan")
print("ready", flush=True)
for number in range(10**9):
    try:
        if number % 3:
            store.update(note, [], origin=("self", "user", "external")[number % 3])
        else:
            store.update(note, [Replacement("save", "save")], archived=bool(number % 2))
    except Refused as refused:
        assert refused.code in {"changed", "no_match", "not_found", "not_text"}, refused
    done[:] = (number + 1).to_bytes(8, "little")
"""


@pytest.mark.parametrize("way", ["renamed into place", "written in place"])
def test_no_save_of_an_editor_is_lost_under_constant_updates(
    agent: Any, tmp_path: Path, rounds: Rounds, start: Callable[..., Any], way: str
) -> None:
    if way == "written in place" and sys.platform != "linux":
        pytest.skip("only Linux tells that a program has a file open")
    path = agent.put("@human/plan", "save 0\n")
    counter = tmp_path / "counter"
    counter.write_bytes(bytes(8))
    with counter.open("r+b") as file:
        done = mmap.mmap(file.fileno(), 8)
    updates = start(UPDATES, agent.home, counter)
    chance = random.Random(13)

    def finished() -> int:
        return int.from_bytes(done[:], "little")

    saves = lost = 0
    while saves + finished() < rounds(20_000):
        for _ in range(chance.randrange(3_000)):
            pass
        saves += 1
        text = f"save {saves}\n" + "x" * chance.randrange(3) * 5_000
        if way == "renamed into place":
            (tmp_path / "edited").write_text(text)
            (tmp_path / "edited").replace(path)
        else:
            path.write_text(text)
        # The update that was going on has ended when two more have.
        seen = finished()
        while finished() < seen + 2:
            os.sched_yield()
            assert updates.poll() is None
        lost += f"save {saves}\n" not in path.read_text()

    assert lost == 0
    updates.kill()
    updates.communicate()
    agent.write(address="@human/other", content="x")
    assert agent.files() == ["human/other.md", "human/plan.md"]
    assert not list(agent.home.rglob("*.hindnote-tmp"))


# -- kills -------------------------------------------------------------------------

KILLS = """
import json, mmap, os, random, signal, sys, time
from pathlib import Path
from hindnote.core.plugins.models import Identity
from hindnote.core.notes.renaming import rename
from hindnote.core.notes.store import Store
from hindnote.core.errors import Refused

home, operations, way = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
os.fsync = lambda _: None
store = Store(Identity(home, "pi", "s1", "me", "m"), "shop-0123abcd")
homes = store.homes
here, there, other = map(homes.parse, ("@human/plan", "plan", "@human/other"))
file = home.joinpath(*here.segments)
done = mmap.mmap(-1, 8)
chance = random.Random(13)
BODY = "line\\n" * 2_000 + "end"

def work():
    for number in range(10**9):
        if way == "write":
            store.write(here, f"{number % 10}" + BODY, "self")
        elif way == "update":
            try:
                store.update(here, [], origin=("self", "user")[number % 2])
            except Refused:
                pass
        else:
            source, target = (here, there) if file.exists() else (there, here)
            rename(store, source, target)
        done[:] = (int.from_bytes(done[:], "little") + 1).to_bytes(8, "little")

def fail(**what):
    print(json.dumps(what), flush=True)
    sys.exit(1)

store.write(here, "0" + BODY, "self")
# Once here, so that no child has to import what it needs.
rename(store, here, there)
rename(store, there, here)
store.update(here, [], origin="user")
print("ready", flush=True)
number = 0
# Two writes follow on each kill.
while int.from_bytes(done[:], "little") + 2 * number < operations:
    number += 1
    child = os.fork()
    if child == 0:
        work()
    saved = None
    time.sleep(chance.random() * 0.008)
    if way == "update":
        # An editor saves, and the update that is going on is killed around that moment.
        saved = f"save {number} {BODY}"
        (home / "edited").write_text(saved)
        os.replace(home / "edited", file)
        time.sleep(chance.random() * 0.0005)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    store.write(other, "x", "self")
    store.write(homes.parse("other"), "x", "self")
    found = [each for each in (here, there) if home.joinpath(*each.segments).exists()]
    litter = [str(path) for path in home.rglob("*.hindnote-tmp") if ".hindnote/" not in str(path)]
    if len(found) != 1 or litter:
        fail(number=number, found=[str(each) for each in found], litter=litter)
    body = store.read(found[0]).note.body
    if saved is None and body[1:] != BODY:
        fail(number=number, body=body[:80], size=len(body))
    if saved is not None and body != saved:
        kept = [path.read_text() for path in file.parent.glob("*.recovered-*")]
        if not any(saved in text for text in kept):
            fail(number=number, saved=saved[:20], body=body[:80], kept=len(kept))
print(json.dumps({"kills": number}), flush=True)
"""


@pytest.mark.parametrize("way", ["write", "update", "rename"])
def test_a_kill_at_any_moment_leaves_one_whole_note_and_no_save_is_lost(
    agent: Any, rounds: Rounds, start: Callable[..., Any], way: str
) -> None:
    process = start(KILLS, agent.home, rounds(20_000), way)

    output, _ = process.communicate(timeout=1_200)

    assert process.returncode == 0, output
    assert json.loads(output)["kills"] > 3
