"""What Pi's decoder and catalogue cost, beside the least that could be done."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from yardstick import (
    SMOKE,
    TELLS_MEMORY,
    Entry,
    best,
    memory_grown,
    read_whole,
    said,
    times_as_long,
    walk,
)

from hindnote.hosts.pi.sessions.catalogue import Catalogue, Places
from hindnote.hosts.pi.sessions.projection import Sessions

ENTRIES = 1_000 if SMOKE else 100_000
OUTPUT = 1_600
"""Characters of a tool's output on the average; makes a file of 133 MB."""

FILES = 50 if SMOKE else 3_000


USAGE = {"input": 3907, "output": 45, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 3952}
COST = {"input": 0.011721, "output": 0.000675, "total": 0.012396, "totalFromProvider": False}


def rows(count: int) -> Iterator[dict[str, object]]:
    """Yield a session's rows: now and then a prompt, else a call and its result in turn."""
    chance = random.Random(7)
    words = " ".join("".join(chance.choices("abcdefghijklmnop", k=6)) for _ in range(50_000))

    def text(size: int) -> list[dict[str, object]]:
        start = chance.randrange(len(words) - size)
        return [{"type": "text", "text": words[start : start + size].replace(" c", "\n")}]

    yield {"type": "session", "version": 3, "id": "s1", "timestamp": "2026-11-30T09:57:58.333Z"}
    parent, called = None, ""
    for number in range(count):
        message: dict[str, object]
        if number % 20 == 0:
            message = {"role": "user", "content": text(300)}
        elif not called:
            called = f"toolu_01{chance.getrandbits(88):022x}"
            call = {
                "type": "toolCall",
                "id": called,
                "name": "bash",
                "arguments": {"command": "ls"},
            }
            message = {"role": "assistant", "content": [*text(120), call], "stopReason": "toolUse"}
            message |= {"provider": "mock", "model": "mock-1", "usage": {**USAGE, "cost": COST}}
        else:
            output = text(100 + int(chance.expovariate(1 / OUTPUT)) % 20_000)
            message = {"role": "toolResult", "toolCallId": called, "toolName": "bash"}
            message |= {"content": output, "isError": False, "durationMs": 8}
            called = ""
        entry = {"type": "message", "id": f"{chance.getrandbits(32):08x}", "parentId": parent}
        entry["timestamp"] = f"2026-11-30T{number // 3600 % 24:02}:{number // 60 % 60:02}:00.000Z"
        yield {**entry, "message": {**message, "timestamp": 1_796_032_678_333}}
        parent = entry["id"]


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("pi") / "s.jsonl"
    with file.open("w", encoding="utf-8") as out:
        for row in rows(ENTRIES):
            out.write(json.dumps(row, separators=(",", ":")) + "\n")
    return file


def test_a_cold_index_costs_little_more_than_decoding_the_lines(session: Path) -> None:
    decode = msgspec.json.Decoder(Entry).decode

    def bare() -> None:
        with session.open("rb") as file:
            for line in file:
                decode(line)

    cold = times_as_long(lambda: Sessions().of_file(session), bare)

    said(f"{session.stat().st_size / 1e6:.0f} MB: {cold:.2f} times a bare decode")
    assert SMOKE or cold <= 2.5


def test_an_appended_entry_makes_the_next_call_little_slower(session: Path) -> None:
    sessions = Sessions()
    first = sessions.of_file(session)
    assert first is not None
    parent = first.facts(first.branch.seqs[-1]).entry_id
    entry = {"type": "message", "id": "appended", "parentId": parent}
    line = json.dumps({**entry, "message": {"role": "user", "content": "more"}}).encode() + b"\n"

    def append() -> None:
        with session.open("ab") as file:
            file.write(line)
        sessions.of_file(session)

    unchanged, appended = best(lambda: sessions.of_file(session)), best(append)

    said(f"unchanged {unchanged * 1e3:.2f} ms, after an append {appended * 1e3:.2f} ms")
    assert SMOKE or appended <= unchanged + 0.010


@pytest.mark.skipif(not TELLS_MEMORY, reason="tells memory by /proc")
def test_memory_grows_by_a_quarter_of_the_file_at_most(session: Path) -> None:
    grown = memory_grown(
        session, "from hindnote.hosts.pi.sessions.projection import Sessions", "Sessions().of_file"
    )
    size = session.stat().st_size

    said(f"private memory grew by {grown / 1e6:.1f} MB for {size / 1e6:.0f} MB: {grown / size:.0%}")
    assert SMOKE or grown <= size / 4


def test_a_catalogue_costs_little_more_than_looking_at_the_files(tmp_path: Path) -> None:
    body = "".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows(40))
    for number in range(FILES):
        folder = tmp_path / f"--p{number % 100}--"
        folder.mkdir(exist_ok=True)
        name = f"2026-11-30T09-57-58-333Z_{number:08}.jsonl"
        (folder / name).write_text(body.replace('"s1"', f'"{number:08}"'))

    where = Places((), (tmp_path,))
    known = Catalogue()
    assert len(known.sessions(where)) == FILES
    cold = times_as_long(lambda: Catalogue().sessions(where), lambda: read_whole(tmp_path))
    warm = times_as_long(lambda: known.sessions(where), lambda: walk(tmp_path))

    said(f"cold {cold:.2f} times reading the files, warm {warm:.2f} times a walk")
    if not SMOKE:
        assert cold <= 5  # a name may be anywhere in a file; these files are small
        assert warm <= 2.5
