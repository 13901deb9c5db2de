"""A transition that is struck at every step: exactly one state afterwards, and it is told."""

from __future__ import annotations

import errno
import fcntl
import os
import random
import signal
import threading
from collections.abc import Callable
from typing import Any

import pytest

from hindnote.core.project import state

pytestmark = pytest.mark.filterwarnings(
    # Test runners keep threads of their own; the children use none of them.
    "ignore:This process .* is multi-threaded:DeprecationWarning"
)

MOST_STEPS = 80

Strikes = Callable[..., Any]


def one_state(project: Any) -> str:
    """Return which of the two states is on disk; it must be exactly one of them."""
    files = project.files()
    before = {project.SOURCE: project.CONTENT}
    assert files in (before, {project.TARGET: project.MOVED})
    return "source" if files == before else "target"


ENDS = {"resume": "target", "cleanup": "target", "rollback": "source"}


def recovered(project: Any) -> str:
    """Make the next mutation; check that it tells the state that it leaves; return it."""
    pending = [name for name in project.leftovers() if name.endswith(".json")]
    answer = project.allocate()
    assert answer.dto["ok"], answer.dto
    recovery = answer.dto["effects"]["recovery"]
    assert recovery["started"] == recovery["completed"] == len(pending)
    undone = any(receipt["action"] == "rollback" for receipt in recovery["receipts"])
    assert answer.dto["effects"]["rollback"] == ("completed" if undone else "none")
    state = one_state(project)
    for receipt in recovery["receipts"]:
        assert receipt["state"] == "completed"
        # A cleaned journal is one of a move that was done or of one rolled back already.
        if receipt["action"] != "cleanup":
            assert ENDS[receipt["action"]] == state
        shown = {
            name: receipt[side]["current"]
            for side, name in (("source", project.SOURCE), ("target", project.TARGET))
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

    # The first kill comes after the target was published, or after the source was taken.
    for first in (20, 29):
        for second in range(MOST_STEPS):
            project.reset()
            assert interrupt(first, project.move)
            killed = interrupt(second, project.allocate)
            recovered(project)
            if not killed:
                break


def test_a_recovery_touches_nothing_while_another_workspace_is_busy(
    project: Any, strikes: Strikes, monkeypatch: pytest.MonkeyPatch
) -> None:
    def kill() -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def move() -> None:
        with strikes(20, kill, after=False, again=False):
            project.move()

    project.reset()
    assert project.killed(move)
    before = project.files(), project.leftovers()
    monkeypatch.setattr(state, "FOLDER_LOCK_SECONDS", 0.02)
    folder = os.open(project.todos, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        dto = project.allocate().dto
        assert dto["error"]["code"] == "locked"
        assert [one["state"] for one in dto["effects"]["recovery"]["receipts"]] == ["failed"]
        assert (project.files(), project.leftovers()) == before
    finally:
        os.close(folder)

    recovered(project)


@pytest.mark.parametrize("after", [False, True])
def test_an_error_at_every_step_is_rolled_back_and_told(
    project: Any, strikes: Strikes, after: bool
) -> None:
    def fail() -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

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
        assert (
            project.CONTENT in before.values()
            or project.MOVED in before.values()
            or not answer.dto["ok"]
        )
        if not answer.dto["ok"] and project.TARGET in before:
            assert answer.dto["effects"]["documents"] in ("observed", "possible")
        if answer.dto["ok"]:
            assert before == {project.TARGET: project.MOVED}
        recovered(project)
        return len(made) > step

    every_step(struck)


EDIT = b"---\nissue_id: '007'\nstatus: pending\npriority: p1\n---\nedited by hand\n"


@pytest.mark.parametrize("edited", ["SOURCE", "TARGET"])
@pytest.mark.parametrize("whole", [False, True])
def test_an_external_edit_at_every_step_survives(
    project: Any, strikes: Strikes, edited: str, whole: bool
) -> None:
    """Saved in place, or as editors do by putting a new file in the old one's place."""

    def edit() -> None:
        place = project.todos / getattr(project, edited)
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
        if not (project.todos / project.TARGET).exists():
            (project.todos / project.TARGET).write_bytes(EDIT)

    seen = set()

    def struck(step: int) -> bool:
        project.reset()
        with strikes(step, squat, after=False, again=False) as made:
            answer = project.move()
        files = project.files()
        if files.get(project.TARGET) == EDIT:
            assert files[project.SOURCE] == project.CONTENT
            seen.add(answer.dto["error"]["code"])
        return len(made) > step and "link" not in made[:step]

    every_step(struck)
    assert "already_exists" in seen


def test_an_error_at_every_step_of_a_creation_leaves_no_half_made_todo(
    project: Any, run_in: Callable[..., Any], strikes: Strikes
) -> None:
    def fail() -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def struck(step: int) -> bool:
        project.reset()
        with strikes(step, fail, after=step % 2 == 1, again=False) as made:
            answer = run_in(project, "todo_create", title="New", priority="p2", body="b")
        found = project.files()
        found.pop(project.SOURCE)
        if answer.dto["ok"]:
            assert list(found) == ["008-pending-p2-new.md"]
        else:
            assert found == {}
            assert answer.dto["error"]["code"] == "io_error"
        assert project.allocate().dto["data"]["id"] == (9 if found else 8)
        assert project.leftovers() == []
        return len(made) > step

    every_step(struck)


def test_a_kill_at_every_step_of_a_creation_leaves_all_of_it_or_nothing(
    project: Any, run_in: Callable[..., Any], strikes: Strikes
) -> None:
    def kill() -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def struck(step: int) -> bool:
        project.reset()

        def create() -> None:
            with strikes(step, kill, after=False, again=False):
                run_in(project, "todo_create", title="New", priority="p2", body="b")

        killed = project.killed(create)
        found = project.files()
        found.pop(project.SOURCE)
        assert [content[-3:] for content in found.values()] in ([], [b"\n\nb"])
        assert project.allocate().dto["data"]["id"] == (9 if found else 8)
        assert project.leftovers() == []
        return bool(killed)

    every_step(struck)


def test_kills_at_random_moments_in_a_loop_leave_one_state_each_time(project: Any) -> None:
    """Real kills from outside, wherever the process happens to be."""
    chance = random.Random(7)
    for _ in range(25):
        project.reset()
        child = os.fork()
        if child == 0:
            while True:
                project.move()
                (project.todos / project.TARGET).rename(project.todos / project.SOURCE)
                (project.todos / project.SOURCE).write_bytes(project.CONTENT)
        # Bounded by the kill itself: the child moves the todo to and fro until then.
        threading.Event().wait(chance.uniform(0.002, 0.05))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        files = project.files()
        if set(files) == {project.SOURCE} and files[project.SOURCE] != project.CONTENT:
            # The child was resetting the file itself.
            (project.todos / project.SOURCE).write_bytes(project.CONTENT)
        recovered(project)
