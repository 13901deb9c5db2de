"""The corpus of ``tests/data/recall``: its sessions in the hosts' formats, and its questions."""

from __future__ import annotations

import json
import os
import re
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

DATA = Path(__file__).parents[2] / "data" / "recall"
LINE = re.compile(r"([uat])(?: (\w+))?: (.*)")
TOOL = re.compile(r"(\w+) (\{.*?\}) (ok|error): (.*)")


class Turn(NamedTuple):
    role: str
    label: str | None
    text: str


class Script(NamedTuple):
    name: str
    host: str
    project: str
    started: datetime
    turns: list[Turn]

    @property
    def session_id(self) -> str:
        return str(uuid.uuid5(uuid.NAMESPACE_URL, f"recall/{self.name}"))


class Question(NamedTuple):
    kind: str
    text: str
    facts: list[set[tuple[str, str]]]
    """A set of gold events for each fact: session name and label."""


def scripts() -> Iterator[Script]:
    for file in sorted(DATA.glob("*.txt")):
        if file.name == "questions.txt":
            continue
        script: Script | None = None
        for line in file.read_text("utf-8").splitlines():
            if line.startswith("= "):
                if script is not None:
                    yield script
                name, host, project, started = line[2:].split()
                moment = datetime.fromisoformat(started).replace(tzinfo=UTC)
                script = Script(name, host, project, moment, [])
            elif line:
                match = LINE.fullmatch(line)
                assert match is not None and script is not None, line
                script.turns.append(Turn(match[1], match[2], match[3]))
        if script is not None:
            yield script


def questions() -> list[Question]:
    found = []
    for line in (DATA / "questions.txt").read_text("utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        kind, text, gold = (part.strip() for part in line.split("|"))
        facts = [
            {_event(name) for name in fact.split()} for fact in gold.split("+") if fact.strip()
        ]
        found.append(Question(kind, text, facts))
    return found


def _event(name: str) -> tuple[str, str]:
    session, _, label = name.partition(".")
    return session, label


class Written(NamedTuple):
    """Where the sessions were written, and what is where."""

    pi: Path
    claude: Path
    labels: dict[tuple[str, int], tuple[str, str]]
    """By canonical session and seq: the session's name and the event's label."""


def write(folder: Path) -> Written:
    """Write every session under ``folder``."""
    written = Written(folder / "agent", folder / "config", {})
    for script in scripts():
        rows = _pi(script, folder) if script.host == "pi" else _claude(script, folder)
        file = _place(written, script)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(
            "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8"
        )
        last = (script.started + timedelta(minutes=len(script.turns))).timestamp()
        os.utime(file, (last, last))
        seq = 1
        for turn in script.turns:
            # Both hosts give the text of the answer that made a call its own seq; ours has none.
            calls = turn.role == "t"
            seq += calls and script.host == "pi"
            if turn.label is not None:
                name = f"{script.host}:{script.session_id}"
                written.labels[name, seq] = (script.name, turn.label)
            seq += 1 + calls
    return written


def _place(written: Written, script: Script) -> Path:
    if script.host == "pi":
        stamp = script.started.strftime("%Y-%m-%dT%H-%M-%S-000Z")
        return (
            written.pi / "sessions" / f"--{script.project}--" / f"{stamp}_{script.session_id}.jsonl"
        )
    return written.claude / "projects" / f"-{script.project}" / f"{script.session_id}.jsonl"


def _at(script: Script, number: int) -> str:
    return (script.started + timedelta(minutes=number)).strftime("%Y-%m-%dT%H:%M:%S.000Z")


def _tool(text: str) -> tuple[str, dict[str, Any], bool, str]:
    match = TOOL.fullmatch(text)
    assert match is not None, text
    output = match[4].replace("\\n", "\n").replace("\\t", "\t")
    return match[1], json.loads(match[2]), match[3] == "error", output


def _pi(script: Script, folder: Path) -> Iterator[dict[str, Any]]:
    head = {"type": "session", "version": 3, "id": script.session_id, "timestamp": _at(script, 0)}
    yield {**head, "cwd": str(folder / script.project)}
    last: str | None = None

    def entry(number: int, message: dict[str, Any]) -> dict[str, Any]:
        nonlocal last
        made = uuid.uuid5(uuid.NAMESPACE_URL, f"{script.name}/{number}/{message['role']}").hex[:8]
        row = {"type": "message", "id": made, "parentId": last, "timestamp": _at(script, number)}
        last = made
        return {**row, "message": message}

    for number, turn in enumerate(script.turns):
        text = [{"type": "text", "text": turn.text}]
        if turn.role == "u":
            yield entry(number, {"role": "user", "content": text})
        elif turn.role == "a":
            yield entry(number, {"role": "assistant", "content": text, "stopReason": "stop"})
        else:
            tool, arguments, failed, output = _tool(turn.text)
            call = {
                "type": "toolCall",
                "id": f"call_{number}",
                "name": tool,
                "arguments": arguments,
            }
            yield entry(number, {"role": "assistant", "content": [call], "stopReason": "toolUse"})
            result = {"role": "toolResult", "toolCallId": call["id"], "toolName": tool}
            out = [{"type": "text", "text": output}]
            yield entry(number, {**result, "content": out, "isError": failed})


def _claude(script: Script, folder: Path) -> Iterator[dict[str, Any]]:
    last: str | None = None

    def row(number: int, kind: str, **fields: Any) -> dict[str, Any]:
        nonlocal last
        parent = last
        last = str(uuid.uuid5(uuid.NAMESPACE_URL, f"{script.name}/{number}/{kind}"))
        return {
            "parentUuid": parent,
            "isSidechain": False,
            "type": kind,
            "uuid": last,
            "timestamp": _at(script, number),
            "sessionId": script.session_id,
            "cwd": str(folder / script.project),
            "version": "2.1.332",
            **fields,
        }

    def answer(number: int, block: dict[str, Any], stop: str) -> dict[str, Any]:
        message = {"id": f"msg_{number}", "role": "assistant", "model": "m", "content": [block]}
        return row(number, "assistant", message={**message, "stop_reason": stop})

    for number, turn in enumerate(script.turns):
        if turn.role == "u":
            yield row(number, "user", message={"role": "user", "content": turn.text})
        elif turn.role == "a":
            yield answer(number, {"type": "text", "text": turn.text}, "end_turn")
        else:
            tool, arguments, failed, output = _tool(turn.text)
            use = {"type": "tool_use", "id": f"toolu_{number}", "name": tool, "input": arguments}
            yield answer(number, use, "tool_use")
            result: dict[str, Any] = {"type": "tool_result", "tool_use_id": use["id"]}
            result |= {"content": output, "is_error": failed}
            yield row(number, "user", message={"role": "user", "content": [result]})
