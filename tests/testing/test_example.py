"""The example host reads files that its agent did not write quite right."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from logbook import plugin
from logbook.session import open_logbook

from hindnote.hosting import HostCall

HEAD = {"logbook": 1, "id": "voyage", "cwd": "/ship"}
SAID = {"at": "2026-03-01T10:00:00Z", "person": "Sail."}


def written(file: Path, *rows: Any) -> Path:
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


@pytest.mark.parametrize(
    "odd",
    [
        {"person": 7},
        {"person": None},
        {"agent": 7},
        {"agent": "x", "calls": {"id": "a"}},
        {"agent": "x", "calls": [7]},
        {"agent": "x", "calls": [{"id": "a", "tool": "t"}]},
        {"agent": "x", "calls": [{"id": 7, "tool": "t", "input": {}}]},
        {"result": "a"},
        {"result": ["a"], "output": "x"},
        {"summary": []},
        [1, 2],
        7,
    ],
    ids=json.dumps,
)
def test_a_row_of_a_wrong_shape_is_counted_and_costs_only_itself(tmp_path: Path, odd: Any) -> None:
    voyage = open_logbook(written(tmp_path / "v.log", HEAD, odd, SAID))

    assert voyage is not None
    assert [slot.text for slot in voyage.slots] == ["Sail."]
    assert len(voyage.damaged) == 1


def test_a_long_first_line_is_read_and_broken_files_are_left_out(tmp_path: Path) -> None:
    long = written(tmp_path / "long.log", {**HEAD, "more": "x" * 100_000}, SAID)
    written(tmp_path / "number.log", {**HEAD, "id": 7})
    written(tmp_path / "none.log", {"logbook": 1})
    (tmp_path / "gone.log").symlink_to(tmp_path / "nowhere")
    (tmp_path / "folder.log").mkdir()

    call = HostCall(host="logbook", session_file=long, cwd=tmp_path)

    assert [entry.file for entry in plugin.host_sessions(call)] == [long]
