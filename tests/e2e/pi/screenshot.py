"""The picture in ``docs/pi.md``: a real Pi in a real terminal, played by a scripted model.

Run ``pytest tests/e2e/pi/screenshot.py``; it rewrites the picture.
"""

from __future__ import annotations

import io
import re
from pathlib import Path

from model import ScriptedModel, Text, ToolCall, Turn
from pi_host import WIDTH, Pi, Terminal, script
from rich.console import Console
from rich.text import Text as Ansi
from tmux import wait_until

PICTURE = Path(__file__).parents[3] / "docs" / "images" / "pi-session.svg"

TURNS = [
    Turn(
        ToolCall("notes_search", {"query": "retried"}),
        ToolCall("history_list", {"query": "retry", "limit": 3}),
    ),
    Turn(
        ToolCall(
            "notes_update",
            {
                "address": "@project/decisions",
                "edits": [{"old_text": "three times", "new_text": "five times, with jitter"}],
            },
        )
    ),
    Turn(
        script(
            'const { files } = await tools.notes_list({ glob: "@project/**" });\n'
            "return files.map((file) => file.address);"
        )
    ),
    Turn(Text("Retries are decided in @project/decisions; I raised them to five, with jitter.")),
]


def test_take_the_picture(pi: Pi, model: ScriptedModel, terminal: Terminal) -> None:
    pi.note("decisions", "Requests are retried three times.\nNothing is cached.")
    model.then(*TURNS)

    terminal.type("how do we retry? make it five, with jitter")
    # The diff before it ends in the same words.
    terminal.wait_for("I raised them to five, with jitter\\. *$")
    wait_until(lambda: "Working" not in terminal.screen())

    console = Console(record=True, width=WIDTH, file=io.StringIO())
    console.print(Ansi.from_ansi(terminal.screen(colors=True)))
    svg = console.export_svg(title="pi")
    # The reader's own fonts do; nothing is fetched for a picture.
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    PICTURE.write_text(svg, "utf-8")
