"""What hindnote costs an agent: with each request, and in ten typical answers.

``python tests/costs.py`` prints both tables that docs/performance.md shows. The first is of
the real hosts, so it is printed where those can be run (see tests/e2e/conftest.py).
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from hindnote.core.call import Dispatcher
from hindnote.core.plugins.hosts import Hosts
from hindnote.core.plugins.models import HostCall
from hindnote.hosts.pi import plugin as pi

BEFORE = {
    "notes_list of 20": (1_716, 1_716),
    "notes_search with 5 notes": (636, 636),
    "notes_read": (168, 168),
    "notes_write receipt": (71, 71),
    "notes_update receipt": (101, 101),
    "history_list of 20": (1_094, 1_094),
    "wildcard query with 10 hits": (1_163, 1_163),
    "history_read": (142, 142),
    "todo list of 20": (4_193, 2_946),
    "docs search of 10": (3_879, 438),
}
"""Bytes of each answer at the commit before they were shortened.

The second figure is of the same answer in lines: then, project answers of up to 8,192 bytes
were whole JSON, now those of up to 2,048 are.
"""

WORD = "needle"
_ID = "01a22bdd-682f-7201-a3d3-4c2bafcd6f{:02}"


def _session(folder: Path, number: int, cwd: Path, turns: int) -> Path:
    """Write a Pi session of some turns: a prompt, a call with its result, an answer."""
    name = _ID.format(number)
    moment = f"2026-11-{number + 10:02}T09:{{:02}}:00.123Z"
    rows: list[dict[str, Any]] = [
        {
            "type": "session",
            "version": 3,
            "id": name,
            "cwd": str(cwd),
            "timestamp": moment.format(0),
        }
    ]
    above = None

    def add(minute: int, **message: Any) -> None:
        nonlocal above
        row = {"type": "message", "id": f"e{len(rows)}", "parentId": above}
        rows.append({**row, "timestamp": moment.format(minute), "message": message})
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
        result = {"toolCallId": f"c{turn}", "toolName": "bash", "isError": False, "content": text}
        add(3 * turn + 1, role="toolResult", **result)
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
    files = [_session(sessions, number, project, 7) for number in range(1, 11)]
    dispatcher = Dispatcher(Hosts.of({"pi": pi}), top / "notes")
    call = HostCall(host="pi", cwd=project, session_id=_ID.format(10), session_file=files[-1])

    def ask(name: str, **arguments: Any) -> tuple[str, list[str]]:
        answer = dispatcher.call(call, name, arguments)
        assert not answer.is_error, answer.text
        return answer.text, _contents(answer.result)

    def project_tool(name: str, **arguments: Any) -> tuple[str, list[str]]:
        answer = dispatcher.project(call, name, arguments)
        assert not answer.is_error, answer.text
        return answer.text, [row["snippet"] for row in answer.dto["data"].get("results", [])]

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
    roles = ["user", "assistant", "tool"]
    return {
        "notes_list of 20": ask("notes_list"),
        "notes_search with 5 notes": ask("notes_search", query=WORD),
        "notes_read": ask("notes_read", address="@project/plan"),
        "notes_write receipt": write,
        "notes_update receipt": update,
        "history_list of 20": ask("history_list", roles=roles, limit=20),
        "wildcard query with 10 hits": ask("history_list", session="*", query=WORD, limit=10),
        "history_read": ask("history_read", seq=1),
        "todo list of 20": project_tool("project_todo_list"),
        "docs search of 10": project_tool("project_artifact_search", query=WORD),
    }


def _contents(result: Mapping[str, Any]) -> list[str]:
    """Return the texts of notes and events in a result."""
    found = [result["text"]] if "text" in result else []
    found += [row["content"] for row in result.get("items", [])]
    found += [hit["text"] for file in result.get("files", []) for hit in file.get("matches", [])]
    return found


def sizes(top: Path) -> dict[str, int]:
    """Return the bytes of each answer without the contents that it shows."""
    found = {}
    with pytest.MonkeyPatch.context() as environment:
        # Times are shown with their offset, which is shortest here.
        environment.setenv("TZ", "UTC")
        time.tzset()
        for name, (text, contents) in answers(top, environment).items():
            for content in contents:
                assert content in text
                text = text.replace(content, "", 1)
            found[name] = len(text.encode())
    time.tzset()
    return found


HOSTS = ("tests/e2e/pi/test_costs.py", "tests/e2e/claude/test_costs.py")


def requests() -> str:
    """Return the table of what the real hosts send for hindnote with each request."""
    command = [sys.executable, "-m", "pytest", "-q", "-s", "-p", "no:cacheprovider", *HOSTS]
    root = Path(__file__).parents[1]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    rows = [line for line in done.stdout.splitlines() if line.startswith("| ")]
    if not rows or done.returncode:
        rows.append(f"(not measured in every host)\n{done.stdout}{done.stderr}")
    head = "host | declarations, before | now | boot block, before | now | all that is added, before | now"
    return "\n".join([f"| {head} |", "| --- " * 7 + "|", *rows])


def table(found: Mapping[str, int]) -> str:
    """Return the table of the ten answers."""
    lines = ["| answer | before | before, in lines | now |", "| --- | --- | --- | --- |"]
    for name, size in found.items():
        then, in_lines = BEFORE[name]
        lines.append(f"| {name} | {then:,} | {in_lines:,} | {size:,} |")
    then, in_lines = (sum(column) for column in zip(*BEFORE.values(), strict=True))
    lines.append(f"| in all | {then:,} | {in_lines:,} | {sum(found.values()):,} |")
    return "\n".join(lines)


def main() -> None:
    """Print both tables."""
    with tempfile.TemporaryDirectory() as folder:
        answered = table(sizes(Path(folder)))
    sys.stdout.write(f"{requests()}\n\n{answered}\n")


if __name__ == "__main__":
    main()
