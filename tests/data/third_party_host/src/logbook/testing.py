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

    def begin(self, folder: Path) -> HostCall:
        """Write a logbook's first line."""
        file = folder / "voyage.log"
        self._write(file, {"logbook": 1, "id": "voyage", "cwd": str(folder)})
        return HostCall(host=self.slug, session_id="voyage", session_file=file, cwd=folder)

    def append(self, call: HostCall, turns: Sequence[Turn]) -> None:
        """Write a line for each turn."""
        for turn in turns:
            at = f"2026-03-01T10:00:{next(self._seconds) % 60:02d}Z"
            self._write(call.session_file, {"at": at, **_row(turn)})

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
