"""What a call costs as the mod sees it: ``pytest -s tests/e2e/claude/measure.py``.

Not a part of the default run: the figures mean something on a quiet machine alone.
"""

from __future__ import annotations

import json
import shutil
import statistics
import sys
from pathlib import Path

from claude_host import DONE, Claude, texts
from model import ToolCall, Turn

WARM_LIMIT = 10.0
FALLBACK_LIMIT = 150.0
"""Milliseconds at the median; those of the fallback beyond two bare interpreters."""


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
    claude.model.then(Turn(ToolCall("mcp__stopwatch__stopwatch", {})), DONE)

    claude.run("time it", "--plugin-dir", str(stopwatch(claude, tmp_path / "stopwatch")))

    times: dict[str, list[float]] = json.loads(texts(claude.model.played[1])[0])
    warm, bare, fallback = (statistics.median(times[name]) for name in ("warm", "bare", "fallback"))
    sys.stderr.write(
        f"warm notes_read: {warm:.1f} ms; without the helper {fallback:.0f} ms, "
        f"a bare interpreter {bare:.0f} ms, twice bare and {FALLBACK_LIMIT:.0f} ms: "
        f"{2 * bare + FALLBACK_LIMIT:.0f} ms\n"
    )
    assert warm <= WARM_LIMIT
    assert fallback <= 2 * bare + FALLBACK_LIMIT
