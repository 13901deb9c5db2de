"""What a call costs, as the host and as the mod see it: ``pytest -s tests/e2e/claude/measure.py``.

Not a part of the default run: the figures mean something on a quiet machine alone.
"""

from __future__ import annotations

import json
import shutil
import statistics
import sys
from pathlib import Path

from claude_host import DONE, Claude, texts, tool
from model import ToolCall, Turn

CALLS = 25
"""Calls that the model makes, one after the other."""

WHOLE_LIMIT = 25.0
"""Milliseconds of a warm call at the median, from ``tool.call`` to its answer."""

WARM_LIMIT = 10.0
"""Milliseconds of a warm call at the median, as the mod sees it."""


NOTE = json.dumps({"address": "@project/plan", "content": "Ship it."})


def stopwatch(claude: Claude, folder: Path) -> Path:
    """A plugin that asks hindnote with the mod's own code, and times it."""
    (installed,) = claude.home.glob(".claude/**/hooks/runtime.ts")
    shutil.copytree(installed.parent, folder / "hooks")
    shutil.copy(Path(__file__).with_name("stopwatch.ts"), folder / "hooks" / "register.ts")
    (folder / ".claude-plugin").mkdir()
    manifest = {"name": "stopwatch", "version": "0.1.0", "description": "times calls"}
    (folder / ".claude-plugin" / "plugin.json").write_text(json.dumps(manifest))
    return folder


def test_a_call_costs_little_as_the_mod_sees_it(claude: Claude, tmp_path: Path) -> None:
    claude.hindnote("call", "notes_write", NOTE)
    read = tool("notes_read", address="@project/plan")
    claude.model.then(*[Turn(read) for _ in range(CALLS)])
    claude.model.then(Turn(ToolCall("mcp__stopwatch__stopwatch", {})), DONE)

    claude.run("time it", "--plugin-dir", str(stopwatch(claude, tmp_path / "stopwatch")))

    times: dict[str, list[float]] = json.loads(texts(claude.model.played[CALLS + 1])[0])
    # The first call starts the helper.
    times["whole"] = times["whole"][1:]
    whole, warm, bare, fallback = (
        statistics.median(times[name]) for name in ("whole", "warm", "bare", "fallback")
    )
    sys.stderr.write(
        f"warm notes_read: {whole:.1f} ms through the host ({min(times['whole']):.1f} at best), "
        f"{warm:.1f} ms of them asking the helper; without the helper {fallback:.0f} ms, a bare "
        f"interpreter {bare:.0f} ms\n"
    )
    assert whole <= WHOLE_LIMIT
    assert warm <= WARM_LIMIT
