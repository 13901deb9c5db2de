"""What goes wrong around a session: aborts, killed processes, others who write."""

from __future__ import annotations

import os
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from model import Result, ScriptedModel, Text, ToolCall, Turn
from pi_host import Pi, helpers
from tmux import wait_until

READ = ToolCall("notes_read", {"address": "@project/plan"})
DONE = Turn(Text("done"))


def append(line: str) -> ToolCall:
    """Return an update that puts a line before the note's last one."""
    edit = {"old_text": "end", "new_text": f"{line}\nend"}
    return ToolCall("notes_update", {"address": "@project/plan", "edits": [edit]})


def told(model: ScriptedModel) -> list[Result]:
    """Return the results that the model was sent last."""
    return model.played[-1].results


def test_a_process_killed_between_calls_is_replaced_unseen(pi: Pi, model: ScriptedModel) -> None:
    pi.note("plan", "Ship it.")
    with pi.rpc() as rpc:
        model.then(Turn(READ), DONE)
        rpc.prompt("one")
        [first] = helpers(rpc.process)
        os.kill(first, signal.SIGKILL)
        wait_until(lambda: not helpers(rpc.process))
        rpc.ask("get_state")

        model.then(Turn(READ), DONE)
        rpc.prompt("two")

        [result] = told(model)
        assert not result.is_error
        assert result.text.endswith("\n\nShip it.")
        [second] = helpers(rpc.process)
        assert second != first


def test_a_process_killed_during_calls_fails_them_once_and_is_replaced(
    pi: Pi, model: ScriptedModel
) -> None:
    pi.note("plan", "Ship it.")
    with pi.rpc() as rpc:
        model.then(Turn(READ), DONE)
        rpc.prompt("one")
        [first] = helpers(rpc.process)
        os.kill(first, signal.SIGSTOP)

        model.then(Turn(READ, READ), Turn(READ), DONE)
        rpc.begin("two", calls=2)
        os.kill(first, signal.SIGKILL)
        rpc.wait_type("agent_settled")

        [failed, after] = [request.results for request in model.played[-2:]]
        assert [result.is_error for result in failed] == [True, True]
        assert "SIGKILL" in failed[0].text
        assert after[0].text.endswith("\n\nShip it.")
        assert not after[0].is_error


def test_an_aborted_call_ends_at_once_and_leaves_the_session_usable(
    pi: Pi, model: ScriptedModel
) -> None:
    pi.note("plan", "Ship it.")
    with pi.rpc() as rpc:
        model.then(Turn(READ), DONE)
        rpc.prompt("one")
        [process] = helpers(rpc.process)
        os.kill(process, signal.SIGSTOP)
        model.then(Turn(READ))
        rpc.begin("two", calls=1)

        rpc.send("abort")
        rpc.wait_type("agent_settled")
        os.kill(process, signal.SIGCONT)

        results = [e["message"] for e in pi.entries() if e.get("message", {}).get("toolName")]
        assert results[-1]["isError"]
        assert results[-1]["content"] == [{"type": "text", "text": "Operation aborted"}]
        model.then(Turn(READ), DONE)
        rpc.prompt("three")
        assert told(model)[0].text.endswith("\n\nShip it.")
        assert helpers(rpc.process) == [process]


def test_a_process_that_cannot_start_is_one_clear_failure(pi: Pi, model: ScriptedModel) -> None:
    pi.extra_env["HINDNOTE_PYTHON"] = "/nowhere/python"
    model.then(Turn(READ), DONE)

    done = pi.say("hello")

    assert done.returncode == 0
    [result] = told(model)
    assert result.is_error
    assert "/nowhere/python" in result.text
    # The command of an environment that is gone would be of no help.
    assert "install hindnote again" in result.text
    assert "hindnote doctor" not in result.text
    # The agent is told, so that it does not take its notes for gone; nothing is stored.
    assert "hindnote could not list notes and history" in model.played[0].prompt
    assert [e for e in pi.entries() if e.get("customType") == "hindnote-boot"] == []
    # The person is told once, though each of the two requests tried.
    [line] = done.stderr.splitlines()
    assert line.startswith("hindnote: could not list notes and history: ")


def test_a_missing_block_is_told_once_a_window(pi: Pi, model: ScriptedModel) -> None:
    pi.extra_env["HINDNOTE_PYTHON"] = "/nowhere/python"
    model.then(Turn(READ), DONE, DONE, Turn(Text("A summary.")), DONE)

    with pi.rpc() as rpc:
        rpc.prompt("one")
        rpc.prompt("two")
        assert len(rpc.notifications()) == 1
        rpc.ask("compact")
        rpc.prompt("three")
        assert len(rpc.notifications()) == 2


def test_no_process_outlives_pi(pi: Pi, model: ScriptedModel) -> None:
    pi.note("plan", "Ship it.")
    with pi.rpc() as rpc:
        model.then(Turn(READ), DONE)
        rpc.prompt("one")
        [process] = helpers(rpc.process)
        rpc.process.kill()
        wait_until(lambda: not Path(f"/proc/{process}").exists())

    with pi.rpc() as rpc:
        model.then(Turn(READ), DONE)
        rpc.prompt("two")
        [process] = helpers(rpc.process)
    assert not Path(f"/proc/{process}").exists()


def test_pi_ends_in_order_while_a_call_hangs(pi: Pi, model: ScriptedModel) -> None:
    pi.note("plan", "Ship it.")
    with pi.rpc() as rpc:
        model.then(Turn(READ), DONE)
        rpc.prompt("one")
        [process] = helpers(rpc.process)
        os.kill(process, signal.SIGSTOP)
        model.then(Turn(READ))
        rpc.begin("two", calls=1)

    assert rpc.process.returncode == 0
    wait_until(lambda: not Path(f"/proc/{process}").exists())


def test_two_pi_processes_share_one_home_and_lose_nothing(pi: Pi, model: ScriptedModel) -> None:
    file = pi.note("plan", "begin\nend")
    rounds = 8

    def turns(name: str) -> list[Turn]:
        mine = lambda request: f"I am {name}" in request.prompt
        calls = [append(f"{name}{number}") for number in range(rounds)]
        return [*(Turn(call, when=mine) for call in calls), Turn(Text("done"), when=mine)]

    model.then(*turns("alpha"), *turns("beta"))
    with ThreadPoolExecutor(2) as pool:
        runs = [pool.submit(pi.say, f"I am {name}") for name in ("alpha", "beta")]
        assert [run.result().returncode for run in runs] == [0, 0]

    results = [result for request in model.played for result in request.results]
    refused = [result for result in results if result.is_error]
    lines = file.read_text("utf-8").split("---\n")[-1].splitlines()
    assert all(result.text.startswith("error: ") for result in refused)
    assert len(lines) == 2 + 2 * rounds - len(refused)
    assert len(set(lines)) == len(lines)
    assert (lines[0], lines[-1]) == ("begin", "end")


@pytest.mark.parametrize("way", ["rewrite", "replace"])
def test_a_person_who_edits_meanwhile_loses_nothing(pi: Pi, model: ScriptedModel, way: str) -> None:
    file = pi.note("plan", "begin\nend")
    with pi.rpc() as rpc:
        model.then(Turn(READ), DONE)
        rpc.prompt("one")
        [process] = helpers(rpc.process)
        os.kill(process, signal.SIGSTOP)
        model.then(Turn(append("agent")), DONE)
        rpc.begin("two", calls=1)

        edited = file.read_text("utf-8").replace("begin", "begin\nperson")
        if way == "rewrite":
            file.write_text(edited, "utf-8")
        else:
            other = file.with_suffix(".swp")
            other.write_text(edited, "utf-8")
            other.replace(file)
        os.kill(process, signal.SIGCONT)
        rpc.wait_type("agent_settled")

        [result] = told(model)
        assert not result.is_error
        body = file.read_text("utf-8").split("---\n")[-1]
        assert body.splitlines() == ["begin", "person", "agent", "end"]
