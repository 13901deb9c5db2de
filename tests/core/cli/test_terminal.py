"""What every command gives to a terminal, over names and texts that would command one."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from hindnote.core.cli.app import make_app
from hindnote.core.text.controls import HIDDEN

ODD = "a\x1b]0;owned\x07\x1b[2J\x9b31m\u202eb\u200b\u2066\U000e0041c"
"""Sets the title, clears the screen, turns the direction, and hides characters."""

NAME = ODD.replace("/", "_")
DOCUMENT = "docs/brief.md"

HINDNOTE = (sys.executable, "-c", "from hindnote.core.cli import main; main()")


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A person's home, a workspace and sessions of both hosts, all full of odd names and texts."""
    top = tmp_path_factory.mktemp("world")
    project = top / f"work {NAME}"
    (project / ".git").mkdir(parents=True)
    (project / "docs" / NAME).mkdir(parents=True)
    notes = top / "notes"
    (notes / "human" / NAME).mkdir(parents=True)
    (notes / "human" / f"{NAME}.md").write_text(
        f"---\norigin: {json.dumps(ODD)}\nx: {json.dumps(ODD)}\n---\n{ODD}\n"
    )
    (notes / "human" / "plain.md").write_text(f"needle {ODD}\n")
    (project / DOCUMENT).write_text(
        f"---\ntitle: {json.dumps(ODD)}\ntags: [{json.dumps(ODD)}]\n---\n# {ODD}\n\nneedle {ODD}\n"
    )
    (project / "docs" / NAME / f"{NAME}.md").write_text(f"# {ODD}\n\nneedle\n")
    pi = top / "pi" / "sessions" / "--work--"
    pi.mkdir(parents=True)
    rows = [
        {"type": "session", "version": 3, "id": "aaaaaaaa-1", "cwd": str(project), "timestamp": f"2026{ODD}"},
        {"type": "session_info", "id": "i", "parentId": None, "name": ODD},
        {"type": "message", "id": "m", "parentId": "i", "message": {"role": "user", "content": f"needle {ODD}"}},
        {"type": "message", "id": "n", "parentId": "m", "message": {"role": "assistant", "content": [
            {"type": "toolCall", "id": "c", "name": f"grep{ODD}", "arguments": {"path": ODD}},
            {"type": "toolCall", "id": "d", "name": "bash", "arguments": {"command": f"echo {ODD}"}}]}},
        {"type": "message", "id": "o", "parentId": "n", "message": {"role": "toolResult", "toolCallId": "d",
            "toolName": "bash", "content": [{"type": "text", "text": f"{ODD}\n"}], "isError": False}},
    ]  # fmt: skip
    (pi / "2026-11-30T09-00-00-000Z_aaaaaaaa-1.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in rows)
    )
    (pi / f"2026-11-30T09-00-00-000Z_{NAME}.jsonl").write_text("no session\n")
    claude = top / "claude" / "projects" / "-work"
    claude.mkdir(parents=True)
    session = "11111111-2222-4333-8444-555555555501"
    row = {"type": "user", "uuid": "u", "parentUuid": None, "sessionId": session, "cwd": str(project),
           "timestamp": "2026-11-30T09:00:00Z", "message": {"role": "user", "content": f"needle {ODD}"}}  # fmt: skip
    title = {"type": "custom-title", "sessionId": session, "customTitle": ODD}
    (claude / f"{session}.jsonl").write_text(f"{json.dumps(row)}\n{json.dumps(title)}\n{ODD}\n")
    codex = top / "codex" / "sessions" / "2026" / "11" / "30"
    codex.mkdir(parents=True)
    thread = "01a20000-0000-7000-8000-000000000001"
    meta = {
        "id": thread,
        "session_id": thread,
        "cwd": str(project),
        "timestamp": "2026-11-30T09:00:00Z",
    }
    items = [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": f"needle {ODD}"}]},
        {"type": "function_call", "name": f"shell{ODD}", "arguments": json.dumps({"command": ODD}), "call_id": "c"},
        {"type": "function_call_output", "call_id": "c", "output": ODD},
    ]  # fmt: skip
    rows = [
        {"type": "session_meta", "payload": meta},
        *({"type": "response_item", "payload": one} for one in items),
    ]
    (codex / f"rollout-2026-11-30T09-00-00-{thread}.jsonl").write_text(
        "".join(json.dumps({"timestamp": "2026-11-30T09:00:00Z", **row}) + "\n" for row in rows)
    )
    (top / "codex" / "config.toml").write_text("# a \u202e b \u200b c\n")
    return top


COMMANDS = [
    ["doctor"],
    ["doctor", "--sessions"],
    ["sessions"],
    ["sessions", "--tree", ODD],
    ["show"],
    ["show", "--all", "--tools", "--full"],
    ["show", "--format", "md"],
    ["show", "--format", "html"],
    ["show", f"aaaa{ODD}"],
    ["show", "codex:01a20000"],
    ["show", "codex:01a20000", "--tools"],
    ["export", "-o", f"missing/{NAME}"],
    ["export", "-o", f"{NAME}.html"],
    ["boot", "codex"],
    ["demo"],
    ["browse", f"aaaa{ODD}"],
    ["search", "needle"],
    ["search", "--literal", "needle"],
    ["home"],
    ["home", "trust", f"../{NAME}"],
    ["home", "rekey", ODD, NAME],
    ["home", "distrust", f"../{NAME}"],
    ["home", "init", f"postgresql://127.0.0.1:1/{ODD}"],
    ["home", "check", f"postgresql://{ODD}"],
    ["home", "migrate", ODD],
    ["home", "copy", f"../{NAME}", f"postgresql://127.0.0.1:1/{ODD}"],
    ["home", "copy", "../notes", f"copy {NAME}"],
    ["notes", "log", f"@human/{NAME}"],
    ["notes", "restore", "@human/plain", ODD],
    ["hosts"],
    ["index", "--status"],
    ["call", "notes_list"],
    ["call", "notes_list", json.dumps({"cwd": NAME})],
    ["call", "notes_read", '{"address": "@human/plain"}'],
    ["call", "notes_read", '{"address": "@human/plain"}', "--structured"],
    ["call", "notes_search", '{"query": "needle"}'],
    ["call", "history_list", '{"session": "*"}'],
    ["call", f"notes_{ODD}"],
    ["call", "notes_list", "--host", ODD],
    ["call", "notes_list", f"{{{ODD}"],
    ["docs", "search", "needle"],
    ["docs", "describe"],
    ["todo", "list"],
    ["todo", "create", ODD],
    ["todo", "allocate"],
    ["todo", "inspect", f"todos/{NAME}.md"],
    ["todo", "transition", f"todos/{NAME}.md", "completed"],
    ["todo", "validate"],
    ["present", f"missing {ODD}"],
    ["present"],
    ["present", "--format", "json"],
    ["install", "pi", "--dry-run", "--project"],
    ["uninstall", "pi", "--project"],
    ["install", "claude", "--dry-run"],
    ["uninstall", "claude"],
    ["install", "codex", "--dry-run"],
    ["uninstall", "codex"],
    [f"comm{ODD}and"],
    ["schemas", ODD],
]  # fmt: skip


def environment(world: Path) -> dict[str, str]:
    return {
        **{name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL") if name in os.environ},
        "HOME": str(world),
        "XDG_CACHE_HOME": str(world / "cache"),
        "HINDNOTE_HOME": str(world / "notes"),
        "PI_CODING_AGENT_DIR": str(world / "pi"),
        "CLAUDE_CONFIG_DIR": str(world / "claude"),
        "CODEX_HOME": str(world / "codex"),
        "PYTHONUTF8": "1",
        "NO_COLOR": "1",
        "TERM": "dumb",
    }


def on_a_terminal(world: Path, arguments: list[str]) -> str:
    """Return what a command wrote to a terminal."""
    ours, theirs = pty.openpty()
    pieces: list[bytes] = []

    def read() -> None:
        while True:
            try:
                piece = os.read(ours, 65_536)
            except OSError:  # the other end is closed
                return
            if not piece:
                return
            pieces.append(piece)

    reader = threading.Thread(target=read)
    command = [*HINDNOTE, *arguments]
    process = subprocess.Popen(
        command,
        env=environment(world),
        cwd=world / f"work {NAME}",
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    reader.start()
    process.wait(60)
    reader.join(60)
    os.close(ours)
    # A terminal's driver ends each line with CR LF.
    return b"".join(pieces).decode("utf-8", "surrogateescape").replace("\r\n", "\n")


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo terminals of Unix")
@pytest.mark.parametrize(
    "arguments", COMMANDS, ids=lambda one: " ".join(one[:2]).encode("ascii", "replace").decode()
)
def test_no_command_lets_a_name_or_a_text_command_the_terminal(
    world: Path, arguments: list[str]
) -> None:
    printed = on_a_terminal(world, arguments)

    assert printed.strip()
    assert "Traceback" not in printed
    found = HIDDEN.search(printed)
    assert found is None, (found, printed[max(0, found.start() - 80) : found.end() + 80])


def test_every_command_is_among_them() -> None:
    def commands(group: click.Group, *path: str) -> Iterator[tuple[str, ...]]:
        context = click.Context(group)
        for name in group.list_commands(context):
            command = group.get_command(context, name)
            if isinstance(command, click.Group):
                yield from commands(command, *path, name)
            else:
                yield *path, name

    # What an MCP server writes is a protocol, which no terminal reads.
    wanted = {*commands(make_app())} - {("mcp",)}

    assert {
        one for one in wanted if not any(tuple(c[: len(one)]) == one for c in COMMANDS)
    } == set()


def test_in_a_pipe_a_note_is_what_it_is(world: Path) -> None:
    command = [
        *HINDNOTE,
        "call",
        "notes_read",
        '{"address": "@human/plain"}',
    ]
    done = subprocess.run(
        command,
        env=environment(world),
        cwd=world / f"work {NAME}",
        capture_output=True,
        timeout=60,
        check=True,
    )

    assert f"needle {ODD}" in done.stdout.decode()
