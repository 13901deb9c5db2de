"""A transition that is struck at every step: exactly one state afterwards, and it is told."""

from __future__ import annotations

import errno
import os
import random
import signal
import threading
from collections.abc import Callable
from typing import Any

import pytest

SOURCE = "007-pending-p1-fix-it.md"
TARGET = "007-ready-p1-fix-it.md"
MOST_STEPS = 80

Strikes = Callable[..., Any]


def one_state(project: Any) -> str:
    """Return which of the two states is on disk; it must be exactly one of them."""
    from_conftest = project.files()
    before = {SOURCE: CONTENT}
    after = {TARGET: MOVED}
    assert from_conftest in (before, after)
    return "source" if from_conftest == before else "target"


CONTENT = b"---\n# why\nissue_id: '007'\nstatus: pending # now\npriority: p1\nx:   [1,2]\r\n---\nb\r\nc"
MOVED = CONTENT.replace(b"pending", b"ready")
ENDS = {"resume": "target", "cleanup": "target", "rollback": "source"}


def recovered(project: Any) -> str:
    """Make the next mutation; check that it tells the state that it leaves; return it."""
    pending = [name for name in project.leftovers() if name.endswith(".json")]
    answer = project.allocate()
    assert answer.dto["ok"], answer.dto
    recovery = answer.dto["effects"]["recovery"]
    assert recovery["started"] == recovery["completed"] == len(pending)
    state = one_state(project)
    for receipt in recovery["receipts"]:
        assert receipt["state"] == "completed"
        # A cleaned journal is one of a move that was done or of one rolled back already.
        if receipt["action"] != "cleanup":
            assert ENDS[receipt["action"]] == state
        shown = {
            name: receipt[side]["current"]
            for side, name in (("source", SOURCE), ("target", TARGET))
        }
        assert [name for name, current in shown.items() if current] == list(project.files())
    assert project.leftovers() == []
    assert project.allocate().dto["effects"]["recovery"]["started"] == 0
    return state


def every_step(strike_at: Callable[[int], bool]) -> int:
    """Strike at one step after the other until a run ends untouched; return how many there were."""
    for step in range(MOST_STEPS):
        if not strike_at(step):
            return step
    raise AssertionError("the transition never ends")


@pytest.mark.parametrize("after", [False, True])
def test_a_kill_at_every_step_leaves_one_state_that_the_next_mutation_tells(
    project: Any, strikes: Strikes, after: bool
) -> None:
    states = []

    def kill() -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def struck(step: int) -> bool:
        project.reset()

        def move() -> None:
            with strikes(step, kill, after=after, again=False):
                assert project.move().dto["ok"]

        killed = project.killed(move)
        states.append(recovered(project))
        return killed

    steps = every_step(struck)

    assert steps > 20
    assert set(states) == {"source", "target"}
    # Once the todo has moved it never moves back.
    assert states == sorted(states)


def test_a_kill_during_recovery_leaves_one_state_as_well(project: Any, strikes: Strikes) -> None:
    def kill() -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def interrupt(at: int, work: Callable[[], Any]) -> bool:
        def run() -> None:
            with strikes(at, kill, after=False, again=False):
                work()

        return bool(project.killed(run))

    # First kills after the target, and after the source was taken.
    for first in (14, 20, 24):
        for second in range(MOST_STEPS):
            project.reset()
            assert interrupt(first, project.move)
            killed = interrupt(second, project.allocate)
            recovered(project)
            if not killed:
                break


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EACCES, errno.EIO])
@pytest.mark.parametrize("after", [False, True])
def test_an_error_at_every_step_is_rolled_back_and_told(
    project: Any, strikes: Strikes, number: int, after: bool
) -> None:
    def fail() -> None:
        raise OSError(number, os.strerror(number))

    def struck(step: int) -> bool:
        project.reset()
        with strikes(step, fail, after=after, again=False) as made:
            answer = project.move()
        state = one_state(project)
        effects = answer.dto["effects"]
        if answer.dto["ok"]:
            assert state == "target"
        else:
            assert answer.dto["error"]["code"] == "io_error"
            assert state == "source"
            if "link" in made:
                # The work was undone, and that it took place is told all the same.
                assert effects["rollback"] == "completed"
        recovered(project)
        return len(made) > step

    every_step(struck)


@pytest.mark.parametrize("after", [False, True])
def test_a_disk_that_stays_broken_never_loses_or_doubles_the_todo(
    project: Any, strikes: Strikes, after: bool
) -> None:
    def fail() -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    def struck(step: int) -> bool:
        project.reset()
        with strikes(step, fail, after=after, again=True) as made:
            answer = project.move()
        before = project.files()
        assert CONTENT in before.values() or MOVED in before.values() or not answer.dto["ok"]
        if not answer.dto["ok"] and TARGET in before:
            assert answer.dto["effects"]["documents"] in ("observed", "possible")
        if answer.dto["ok"]:
            assert before == {TARGET: MOVED}
        recovered(project)
        return len(made) > step

    every_step(struck)


EDIT = b"---\nissue_id: '007'\nstatus: pending\npriority: p1\n---\nedited by hand\n"


@pytest.mark.parametrize("edited", [SOURCE, TARGET])
@pytest.mark.parametrize("whole", [False, True])
def test_an_external_edit_at_every_step_survives(
    project: Any, strikes: Strikes, edited: str, whole: bool
) -> None:
    """Saved in place, or as editors do by putting a new file in the old one's place."""

    def edit() -> None:
        place = project.todos / edited
        if not place.exists():
            return
        wrote.append(1)
        if whole:
            (project.base / "saved").write_bytes(EDIT)
            (project.base / "saved").replace(place)
        else:
            place.write_bytes(EDIT)

    wrote: list[int] = []

    def struck(step: int) -> bool:
        project.reset()
        wrote.clear()
        with strikes(step, edit, after=True, again=False) as made:
            answer = project.move()
        project.allocate()
        if wrote:
            assert EDIT in project.files().values(), (step, made)
            if not answer.dto["ok"]:
                assert answer.dto["error"]["code"] in ("changed", "stale_content", "todo_conflict")
        else:
            assert one_state(project) == ("target" if answer.dto["ok"] else "source")
        return len(made) > step

    every_step(struck)


def test_a_file_that_takes_the_targets_name_meanwhile_stays(project: Any, strikes: Strikes) -> None:
    def squat() -> None:
        if not (project.todos / TARGET).exists():
            (project.todos / TARGET).write_bytes(EDIT)

    seen = set()

    def struck(step: int) -> bool:
        project.reset()
        with strikes(step, squat, after=False, again=False) as made:
            answer = project.move()
        files = project.files()
        if files.get(TARGET) == EDIT:
            assert files[SOURCE] == CONTENT
            seen.add(answer.dto["error"]["code"])
        return len(made) > step and "link" not in made[:step]

    every_step(struck)
    assert "already_exists" in seen


def test_kills_at_random_moments_in_a_loop_leave_one_state_each_time(project: Any) -> None:
    """Real kills from outside, wherever the process happens to be."""
    chance = random.Random(7)
    for _ in range(25):
        project.reset()
        child = os.fork()
        if child == 0:
            while True:
                project.move()
                os.rename(project.todos / TARGET, project.todos / SOURCE)
                (project.todos / SOURCE).write_bytes(CONTENT)
        # Bounded by the kill itself: the child moves the todo to and fro until then.
        threading.Event().wait(chance.uniform(0.002, 0.05))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        files = project.files()
        if set(files) == {SOURCE} and files[SOURCE] != CONTENT:
            # The child was resetting the file itself.
            (project.todos / SOURCE).write_bytes(CONTENT)
        recovered(project)
