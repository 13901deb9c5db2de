"""Pages of a session, over sessions of any shape: each event once, whichever way one turns."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindnote.core.errors import Refused
from hindnote.core.history.projection import Projection
from hindnote.core.reader.page import PAGE_CHARS, TEXT_LIMIT, Done, Mark, Reading, Said
from hindnote.hosts.claude.sessions.projection import open_transcript
from hindnote.hosts.pi.sessions.projection import Sessions

DATA = Path(__file__).parents[2] / "data"
FILES = sorted([*DATA.glob("claude/**/*.jsonl"), *DATA.glob("pi/*.jsonl")])


def projection_of(file: Path) -> Projection:
    is_pi = "pi" in file.relative_to(DATA).parts[:1]
    found = Sessions().of_file(file) if is_pi else open_transcript(file)
    assert found is not None
    return found


def seqs(page: Any) -> list[int]:
    return [event.seq for event in page.events()]


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}-{file.stem}")
@given(limit=st.integers(1, 40))
def test_pages_from_either_end_hold_each_event_once(file: Path, limit: int) -> None:
    reading = Reading(projection_of(file))
    whole = seqs(reading.everything())

    back: list[int] = []
    page = reading.newest(limit)
    while True:
        back = [*seqs(page), *back]
        if not page.older:
            break
        page = reading.before(page.first_seq, limit)
    forward: list[int] = []
    page = reading.after(0, limit)
    while True:
        forward += seqs(page)
        if not page.newer:
            break
        page = reading.after(page.last_seq or 0, limit)

    assert back == forward == whole


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}-{file.stem}")
def test_marks_are_on_exactly_one_page(file: Path) -> None:
    reading = Reading(projection_of(file))
    whole = [item for item in reading.everything().items if isinstance(item, Mark)]

    found = []
    page = reading.after(0, 2)
    while True:
        found += [item for item in page.items if isinstance(item, Mark)]
        if not page.newer:
            break
        page = reading.after(page.last_seq or 0, 2)

    assert found == whole
    windows = [mark for mark in whole if mark.kind == "window"]
    assert len(windows) == len(reading.windows) - 1


def session(tmp_path: Path, *texts: str) -> Reading:
    rows: list[dict[str, Any]] = [{"type": "session", "version": 3, "id": "s1", "cwd": "/w"}]
    for number, text in enumerate(texts):
        row = {
            "type": "message",
            "id": str(number),
            "parentId": str(number - 1) if number else None,
        }
        rows.append({**row, "message": {"role": "user", "content": text}})
    file = tmp_path / "s.jsonl"
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    found = Sessions().of_file(file)
    assert found is not None
    return Reading(found)


def test_a_session_without_events_is_an_empty_page(tmp_path: Path) -> None:
    page = session(tmp_path).newest()

    assert (page.items, page.first_seq, page.older, page.newer) == ((), None, False, False)


def test_long_texts_are_cut_with_a_count_and_make_a_page_shorter(tmp_path: Path) -> None:
    reading = session(tmp_path, *["x" * (TEXT_LIMIT + 7)] * 30)

    page = reading.newest()
    first = next(page.events())

    assert isinstance(first, Said)
    assert (len(first.text), first.omitted) == (TEXT_LIMIT, 7)
    assert len(seqs(page)) == PAGE_CHARS // TEXT_LIMIT
    assert page.older


def test_around_an_event_lie_its_neighbors_and_a_wrong_seq_is_refused(tmp_path: Path) -> None:
    reading = session(tmp_path, *map(str, range(50)))

    assert seqs(reading.around(25, 6)) == [22, 23, 24, 25, 26, 27]
    assert seqs(reading.around(1, 6)) == [1, 2, 3]
    assert seqs(reading.one(25)) == [25]
    with pytest.raises(Refused, match="no seq 51"):
        reading.around(51)


def test_what_tools_did_is_on_the_page_with_what_they_were_asked_for() -> None:
    page = Reading(projection_of(DATA / "claude/basic.jsonl")).everything()
    done = [event for event in page.events() if isinstance(event, Done)]

    assert [event.summary for event in done][:3] == [
        "ls -la src && echo '日本語 ✓ é'",
        "echo to-stdout; echo to-stderr >&2; exit 3",
        "/workspace/demo/src/calc.py",
    ]
    assert all(event.shown.presentation is not None for event in done)
