"""Counts the files of ours that two typical calls enter, from the request's arrival to its answer.

``python tests/data_walk.py`` prints them: ``history_list`` as Pi's process answers it, and
``notes_update`` as Claude Code's helper does. Files that only declare what others use (models,
constants) run no code in a call and do not count; neither do the few TypeScript files in which a
call begins, which are named apart.
"""

from __future__ import annotations

import io
import json
import os
import sys
import tempfile
import threading
from pathlib import Path
from types import FrameType
from typing import Any, Self

import hindnote

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = Path(hindnote.__file__).parent
"""The package as it is installed: this folder, or one among other people's packages."""

BEGINS = {
    "history_list": ("index.ts", "runtime.ts", "session.ts", "helper.ts"),
    "notes_update": ("register.ts", "helper.ts"),
}
"""Where a call begins in the host: files of hosts/pi/extension and hosts/claude/mod/hooks."""


class Walk:
    """Records which functions of ours run while it is active, in every thread."""

    def __init__(self) -> None:
        self.functions: set[tuple[str, str]] = set()
        self.calls = 0

    def __enter__(self) -> Self:
        threading.setprofile(self._seen)
        sys.setprofile(self._seen)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]

    def _seen(self, frame: FrameType, event: str, _: object) -> None:
        if event != "call":
            return
        file = frame.f_code.co_filename
        # A module's own code runs while it is imported, which is no part of a call.
        if file.startswith(str(PACKAGE)) and frame.f_code.co_name != "<module>":
            self.functions.add((file, frame.f_code.co_qualname))
            self.calls += 1

    @property
    def files(self) -> list[str]:
        """Return the files entered, as paths below the package."""
        ours = {Path(file).relative_to(PACKAGE) for file, _ in self.functions}
        return sorted(str(file) for file in ours if file.parts[0] != "tests")


def history_list(folder: Path) -> Walk:
    """Walk through a ``history_list`` of a recorded session, answered by Pi's process."""
    from hindnote.core.call import Dispatcher
    from hindnote.core.plugins.hosts import Hosts
    from hindnote.hosts.pi.server import Server

    dispatcher = Dispatcher(Hosts.load(), folder / "notes")

    def serve(recording: str) -> None:
        file = str(ROOT / "tests/data/pi" / recording)
        host = {"cwd": str(folder), "sessionId": "s1", "sessionFile": file}
        call = {"type": "call", "id": "1", "operation": "history_list", "host": host}
        source = io.BytesIO(json.dumps({**call, "arguments": {"limit": 5}}).encode() + b"\n")
        sink = io.BytesIO()
        Server(dispatcher, dict, source, sink).serve()
        answer = json.loads(sink.getvalue().splitlines()[-1])
        assert answer["ok"], answer

    # A first call imports what a second one uses.
    serve("misc.jsonl")
    with Walk() as walk:
        serve("basic.jsonl")
    return walk


def notes_update(folder: Path) -> Walk:
    """Walk through a ``notes_update`` of a note, answered by Claude Code's helper."""
    from hindnote.hosts.claude import helper

    def ask(operation: str, **arguments: Any) -> None:
        request = {"kind": "call", "operation": operation, "arguments": arguments}
        status, body = helper.answer(
            json.dumps({**request, "call": {"cwd": str(folder / "work")}}).encode()
        )
        assert status == 200, body
        assert not json.loads(body)["isError"], body

    (folder / "work").mkdir()
    ask("notes_write", address="@human/plan", content="one")
    ask("notes_update", address="@human/plan", edits=[{"old_text": "one", "new_text": "one one"}])
    edits = [{"old_text": "one one", "new_text": "two"}]
    with Walk() as walk:
        ask("notes_update", address="@human/plan", edits=edits)
    return walk


def main() -> None:
    """Print both walks."""
    for walked in (history_list, notes_update):
        with tempfile.TemporaryDirectory() as folder:
            os.environ["HINDNOTE_HOME"] = f"{folder}/notes"
            walk = walked(Path(folder))
        name = walked.__name__
        print(  # noqa: T201
            f"{name}: {len(walk.files)} files, {len(walk.functions)} functions, "
            f"{walk.calls} calls; begins in {', '.join(BEGINS[name])}"
        )
        for file in walk.files:
            inside = sorted(function for path, function in walk.functions if path.endswith(file))
            print(f"  {file}: {', '.join(inside)}")  # noqa: T201


if __name__ == "__main__":
    main()
