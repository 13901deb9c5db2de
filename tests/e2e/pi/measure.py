"""What hindnote costs in the real Pi, measured: ``pytest -s tests/e2e/pi/measure.py``.

Not a part of the default run: the figures mean something on a quiet machine alone.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from typing import Any

import pytest
from model import ScriptedModel, Text, ToolCall, Turn
from pi_host import Pi

from hindnote import HostCall
from hindnote.core.call import Dispatcher
from hindnote.core.plugins.hosts import Hosts
from hindnote.hosts.pi import plugin

STARTS = 15
CALLS = 200

START_LIMIT = 50.0
FIRST_LIMIT = 500.0
OVERHEAD_LIMIT = 5.0
"""Milliseconds, at the median."""

STOPWATCH = """
export default (pi) => pi.registerTool({
    name: "stopwatch", label: "stopwatch", description: "times calls",
    parameters: { type: "object", properties: {} },
    async execute(_id, _args, signal, _update, ctx) {
        const times = [];
        for (let n = 0; n < CALLS; n++) {
            const start = performance.now();
            const outcome = await ctx.executeTool("notes_read", { address: "@project/plan" });
            times.push(performance.now() - start);
            if (outcome.isError) throw new Error(JSON.stringify(outcome.result));
        }
        return { content: [{ type: "text", text: JSON.stringify(times) }], details: {} };
    },
});
""".replace("CALLS", str(CALLS))


def tell(line: str) -> None:
    sys.stderr.write(f"{line}\n")


def start(pi: Pi) -> float:
    """Return the milliseconds from the start of Pi to its first answer."""
    started = time.perf_counter()
    with pi.rpc("--no-session") as rpc:
        rpc.ask("get_state")
        return (time.perf_counter() - started) * 1000


def test_pi_starts_hardly_later(pi: Pi, tmp_path_factory: pytest.TempPathFactory) -> None:
    without = Pi(tmp_path_factory.mktemp("without"), pi.node, pi.modules, pi.model)
    for home in (pi, without):
        start(home)  # what Pi compiles is kept, and only the first start pays for it
    pairs = []
    for turn in range(STARTS):
        order = (pi, without) if turn % 2 else (without, pi)
        times = {id(home): start(home) for home in order}
        pairs.append(times[id(pi)] - times[id(without)])

    delay = statistics.median(pairs)
    tell(f"start of Pi delayed by {delay:.0f} ms (median of {STARTS} pairs: {_spread(pairs)})")
    assert delay <= START_LIMIT


def test_the_first_call_of_a_session_is_answered_soon(pi: Pi, model: ScriptedModel) -> None:
    pi.note("plan", "Ship it.")
    first = []
    for _ in range(STARTS):
        model.then(Turn(ToolCall("notes_read", {"address": "@project/plan"})), Turn(Text("done")))
        pi.say("hello")
        entries = pi.entries(pi.session_files()[-1])
        first += [e["message"]["durationMs"] for e in entries if _is_result(e)]

    tell(f"first call of a session: {statistics.median(first):.0f} ms ({_spread(first)})")
    assert statistics.median(first) <= FIRST_LIMIT


def _is_result(entry: dict[str, Any]) -> bool:
    return bool(entry.get("message", {}).get("role") == "toolResult")


def test_a_warm_call_through_pi_costs_little_more_than_in_python(
    pi: Pi, model: ScriptedModel
) -> None:
    pi.note("plan", "Ship it.\n" * 200)
    (pi.agent_dir / "extensions" / "stopwatch.ts").write_text(STOPWATCH)
    model.then(Turn(ToolCall("stopwatch", {})), Turn(Text("done")))
    pi.say("hello")
    through: list[float] = json.loads(model.played[1].results[0].text)

    dispatcher = Dispatcher(Hosts.of({"pi": plugin}), pi.notes)
    call = HostCall(host="pi", session_id="s", cwd=pi.project, model="scripted-1")
    inside = []
    for _ in range(CALLS):
        started = time.perf_counter()
        dispatcher.call(call, "notes_read", {"address": "@project/plan"})
        inside.append((time.perf_counter() - started) * 1000)

    added = statistics.median(through) - statistics.median(inside)
    tell(
        f"warm notes_read: {statistics.median(inside):.2f} ms in Python, "
        f"{statistics.median(through):.2f} ms through Pi: {added:.2f} ms more"
    )
    assert added <= OVERHEAD_LIMIT


def _spread(values: list[float]) -> str:
    ordered = sorted(values)
    return f"{ordered[0]:.0f} to {ordered[-1]:.0f}"
