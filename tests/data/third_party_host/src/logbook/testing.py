"""A writer of logbooks for hindnote's conformance kit."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hindnote.hosting import HostCall
from hindnote.testing import Answer, Person, Ran, Turn
from logbook import plugin


class Writer:
    """Prints turns as a logbook."""

    slug = plugin.SLUG
    plugin = plugin

    def __init__(self) -> None:
        self._seconds = itertools.count()
        self._sessions = itertools.count(1)

    def begin(self, folder: Path) -> HostCall:
        """Write a logbook's first line."""
        name = f"voyage-{next(self._sessions)}"
        return self._begin(HostCall(host=self.slug, cwd=folder), folder / f"{name}.log", name)

    def append(self, call: HostCall, turns: Sequence[Turn]) -> None:
        """Write a line for each turn."""
        for turn in turns:
            second = next(self._seconds)
            at = f"2026-03-01T10:{second // 60:02d}:{second % 60:02d}Z"
            self._write(_log(call), {"at": at, **_row(turn)})

    def rewind(self, call: HostCall) -> None:
        """Write a line that takes back the last exchange."""
        self._write(call.session_file, {"undo": True})

    def fork(self, call: HostCall) -> HostCall:
        """Write a logbook with the lines of another."""
        file = call.session_file
        name = f"voyage-{next(self._sessions)}"
        forked = self._begin(call, file.with_name(f"{name}.log"), name, parent=call.session_id)
        with forked.session_file.open("a", encoding="utf-8") as out:
            out.writelines(file.read_text("utf-8").splitlines(keepends=True)[1:])
        return forked

    def delegate(self, call: HostCall) -> HostCall:
        """Write the first line of a mate's log."""
        mate = call.model_copy(update={"agent_id": "mate"})
        self._begin(call, _log(mate), f"{call.session_id}/mate", parent=call.session_id)
        return mate

    def _begin(self, call: HostCall, file: Path, name: str, **more: Any) -> HostCall:
        self._write(file, {"logbook": 1, "id": name, "cwd": str(call.cwd), **more})
        return call.model_copy(update={"session_id": name, "session_file": file})

    def damage(self, call: HostCall) -> bool:
        """Write a torn line."""
        with call.session_file.open("a") as file:
            file.write('{"at": "2026-03-01T1\n')
        return True

    def _write(self, file: Path, row: dict[str, Any]) -> None:
        with file.open("a", encoding="utf-8") as out:
            out.write(json.dumps(row, ensure_ascii=False) + "\n")


def _row(turn: Turn) -> dict[str, Any]:
    match turn:
        case Person(text):
            return {"person": text}
        case Answer(text, calls):
            made = [{"id": c.id, "tool": c.name, "input": dict(c.arguments)} for c in calls]
            return {"agent": text or None, "calls": made}
        case Ran(call_id, output, failed):
            return {"result": call_id, "output": output, "failed": failed}
    return {"summary": turn.summary}


def _log(call: HostCall) -> Path:
    """Return the log of the agent that calls."""
    file = call.session_file
    return file.with_suffix(f".{call.agent_id}.log") if call.agent_id else file
