"""How long the text of ten typical answers is beside the text of notes, events and documents.

``python tests/costs.py`` prints the table that docs/performance.md shows; tests/test_costs.py
holds the answers to it.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from hindnote.core.call import Dispatcher
from hindnote.core.plugins.hosts import Hosts
from hindnote.core.plugins.models import HostCall
from hindnote.hosts.pi import plugin as pi

BEFORE = {
    "notes_list of 20": 1_716,
    "notes_search with 5 notes": 636,
    "notes_read": 168,
    "notes_write receipt": 71,
    "notes_update receipt": 101,
    "history_list of 20": 1_168,
    "wildcard query with 10 hits": 1_161,
    "history_read": 142,
    "todo list of 20": 4_193,
    "docs search of 10": 3_979,
}
"""Bytes of each answer at the commit before they were shortened."""

WORD = "needle"
_ID = "01a22bdd-682f-7201-a3d3-4c2bafcd6f{:02}"


def _session(folder: Path, number: int, cwd: Path, turns: int) -> Path:
    """Write a Pi session of some turns: a prompt, a call with its result, an answer."""
    name = _ID.format(number)
    time = f"2026-11-{number + 10:02}T09:{{:02}}:00.123Z"
    rows: list[dict[str, Any]] = [
        {"type": "session", "version": 3, "id": name, "cwd": str(cwd), "timestamp": time.format(0)}
    ]
    above = None

    def add(minute: int, **message: Any) -> None:
        nonlocal above
        row = {"type": "message", "id": f"e{len(rows)}", "parentId": above}
        rows.append({**row, "timestamp": time.format(minute), "message": message})
        above = f"e{len(rows) - 1}"

    for turn in range(turns):
        call = {
            "type": "toolCall",
            "id": f"c{turn}",
            "name": "bash",
            "arguments": {"command": "ls"},
        }
        add(3 * turn, role="user", content=f"{WORD} {turn}")
        add(3 * turn + 1, role="assistant", content=[call])
        text = [{"type": "text", "text": "ok"}]
        add(3 * turn + 1, role="toolResult", toolCallId=f"c{turn}", toolName="bash", content=text)
        add(3 * turn + 2, role="assistant", content=[{"type": "text", "text": f"done {turn}"}])
    file = folder / f"2026-11-{number + 10:02}T09-00-00-000Z_{name}.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def answers(top: Path, environment: pytest.MonkeyPatch) -> dict[str, tuple[str, list[str]]]:
    """Return ten answers as a model reads them, each with the contents that do not count."""
    project = top / "shop"
    (project / ".git").mkdir(parents=True)
    sessions = top / "sessions"
    sessions.mkdir()
    environment.setenv("PI_CODING_AGENT_SESSION_DIR", str(sessions))
    environment.setenv("XDG_CACHE_HOME", str(top / "cache"))
    files = [_session(sessions, number, project, 5) for number in range(1, 11)]
    dispatcher = Dispatcher(Hosts.of({"pi": pi}), top / "notes")
    call = HostCall(host="pi", cwd=project, session_id=_ID.format(10), session_file=files[-1])

    def ask(name: str, **arguments: Any) -> str:
        answer = dispatcher.call(call, name, arguments)
        assert not answer.is_error, answer.text
        return answer.text

    def project_tool(name: str, **arguments: Any) -> str:
        answer = dispatcher.project(call, name, arguments)
        assert not answer.is_error, answer.text
        return answer.text

    write = ask("notes_write", address="@project/plan", content=f"a {WORD}\n")
    for number in range(19):
        ask(
            "notes_write",
            address=f"@project/note-{number}",
            content=f"a {WORD}\n" if number < 4 else "text\n",
        )
    edit = {"old_text": "a ", "new_text": "the "}
    update = ask("notes_update", address="@project/plan", edits=[edit])
    for number in range(20):
        project_tool(
            "project_todo_create", title=f"Todo number {number}", priority="p2", body="Text."
        )
    (project / "docs").mkdir()
    for number in range(10):
        (project / "docs" / f"brief-{number}.md").write_text(f"# Brief {number}\n\nThe {WORD}.\n")
    return {
        "notes_list of 20": (ask("notes_list"), []),
        "notes_search with 5 notes": (
            ask("notes_search", query=WORD),
            [f"a {WORD}", f"the {WORD}"],
        ),
        "notes_read": (ask("notes_read", address="@project/plan"), [f"the {WORD}\n"]),
        "notes_write receipt": (write, []),
        "notes_update receipt": (update, []),
        "history_list of 20": (
            ask("history_list", roles=["user", "assistant", "tool"], limit=20),
            [f"{WORD} {n}" for n in range(5)],
        ),
        "wildcard query with 10 hits": (
            ask("history_list", session="*", query=WORD, limit=10),
            [f"{WORD} {n}" for n in range(5)],
        ),
        "history_read": (ask("history_read", seq=1), [f"{WORD} 0"]),
        "todo list of 20": (project_tool("project_todo_list"), []),
        "docs search of 10": (
            project_tool("project_artifact_search", query=WORD),
            [f"The {WORD}."],
        ),
    }


def sizes(top: Path) -> dict[str, int]:
    """Return the bytes of each answer without the contents that it shows."""
    found = {}
    with pytest.MonkeyPatch.context() as environment:
        for name, (text, contents) in answers(top, environment).items():
            for content in contents:
                text = text.replace(content, "")
            found[name] = len(text.encode())
    return found


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as folder:
        for name, size in sizes(Path(folder)).items():
            sys.stdout.write(f"| {name} | {BEFORE[name]:,} | {size:,} |\n")


if __name__ == "__main__":
    main()
