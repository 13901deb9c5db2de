"""The picture in ``docs/claude-code.md``: a real Claude Code in a terminal, played by a scripted model.

Run ``pytest tests/e2e/claude/screenshot.py``; it rewrites the picture.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from pathlib import Path

from claude_host import Claude, tool
from model import Request, Text, Turn, offers_tools
from rich.console import Console
from rich.text import Text as Ansi
from terminal import WIDTH, Terminal

PICTURE = Path(__file__).parents[3] / "docs" / "images" / "claude-code.svg"
DEPLOY = "# Deploy\n\n- staging: waits\n- production: waits for the rollback fix\n"


def is_compaction(request: Request) -> bool:
    return "summary of the conversation" in json.dumps(request.messages[-1])


def turn(*blocks: object) -> Turn:
    return Turn(*blocks, when=lambda r: offers_tools(r) and not is_compaction(r))  # type: ignore[arg-type]


def tidied(screen: str, claude: Claude) -> str:
    """The screen without what only a test's session has: its folders and its debug log."""
    lines = screen.replace(str(claude.project), "~/acme-web").split("\n")
    return "\n".join(line for line in lines if "ebug mode" not in line and "debug.log" not in line)


def test_take_the_picture(claude: Claude, terminal: Callable[..., Terminal]) -> None:
    note = json.dumps({"address": "@project/deploy", "content": DEPLOY})
    claude.hindnote("call", "notes_write", note, "--host", "claude")
    edit = {"old_text": "- staging: waits", "new_text": "- staging: done"}
    screen = terminal("--permission-mode", "default")

    claude.model.then(turn(Text("Then the rollback has to be mended before production.")))
    screen.type("The rollback keeps the old queue workers running.")
    screen.wait_for("before production\\.")
    claude.model.then(Turn(Text("A summary."), when=is_compaction))
    screen.type("/compact")
    screen.wait_for("Compacted")
    claude.model.then(
        turn(
            Text("Let me look at what I left myself."),
            tool("notes_read", address="@project/deploy"),
        ),
        turn(tool("history_list", query=["rollback"], roles=["user"], limit=1)),
        turn(tool("notes_update", address="@project/deploy", edits=[edit])),
        turn(Text("Staging is deployed; production waits for the queue workers of the rollback.")),
    )
    screen.type("Where did we stop with the deploy?")
    screen.wait_for("waits for the queue workers of the rollback\\.")

    console = Console(record=True, width=WIDTH, file=io.StringIO())
    console.print(Ansi.from_ansi(tidied(screen.screen(colors=True), claude)))
    svg = console.export_svg(title="claude")
    # The reader's own fonts do; nothing is fetched for a picture.
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)
    PICTURE.write_text(svg, "utf-8")
