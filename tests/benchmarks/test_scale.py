"""What the largest sessions cost, beside a bare decode of their lines: time and memory."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from yardstick import SMOKE, said

ROUNDS = 1 if SMOKE else 3
LARGE = 500_000 if SMOKE else 200_000_000
LINE = 200_000 if SMOKE else 64_000_000
FORKS = 10 if SMOKE else 1_000
FORK = 10_000 if SMOKE else 100_000

USAGE = {"input": 1956, "output": 42, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 1998}
COST = {"input": 0.005868, "output": 0.00063, "cacheRead": 0, "total": 0.006498}
ANSWER = {
    "api": "anthropic-messages",
    "provider": "mock",
    "model": "mock-1",
    "usage": {**USAGE, "cost": COST},
    "stopReason": "toolUse",
    "timestamp": 1_796_032_678_488,
    "responseId": "msg_01GTsFBmFicT6g6AHvGMWNxK",
    "rawStopReason": "tool_use",
    "durationMs": 47,
}
"""What Pi records of every answer."""

Measure = Callable[..., dict[str, Any]]


def entry(number: int, parent: int | None, **message: Any) -> dict[str, Any]:
    return {
        "type": "message",
        "id": f"{number:08x}",
        "parentId": None if parent is None else f"{parent:08x}",
        "timestamp": f"2026-11-30T{number // 3600 % 24:02}:{number // 60 % 60:02}:00.000Z",
        "message": message,
    }


def header(session_id: str, **more: str) -> dict[str, Any]:
    return {"type": "session", "version": 3, "id": session_id, "cwd": "/w", **more}


def encoded(row: dict[str, Any]) -> bytes:
    return json.dumps(row, separators=(",", ":")).encode() + b"\n"


def turns(size: int) -> list[bytes]:
    """Return lines of so many bytes together: a prompt, then calls and their results in turn."""
    rows: list[bytes] = []
    written = number = 0
    while written < size:
        message: dict[str, Any]
        if number % 21 == 0:
            message = {"role": "user", "content": "please look at this " * 10}
        elif number % 21 % 2:
            call = {"type": "toolCall", "id": f"c{number}", "name": "bash", "arguments": {"n": 1}}
            text = [{"type": "text", "text": "I will look at that next, and then decide."}]
            message = {"role": "assistant", "content": [*text, call], **ANSWER}
        else:
            text = [{"type": "text", "text": f"{number} " + "a line of some output\n" * 110}]
            message = {"role": "toolResult", "toolCallId": f"c{number - 1}", "toolName": "bash"}
            message |= {"content": text, "isError": False}
        rows.append(encoded(entry(number, number - 1 if number else None, **message)))
        written += len(rows[-1])
        number += 1
    return rows


def megabytes(size: int) -> str:
    return f"{max(size, 0) / 1e6:.0f} MB"


def grew(figures: dict[str, Any]) -> str:
    end, peak = megabytes(figures["grown"]), megabytes(figures["peak"])
    return f"private memory grew by {end}, {peak} at its peak"


def test_the_last_page_of_a_large_session_costs_little_more_than_decoding_its_lines(
    tmp_path: Path, measure: Measure
) -> None:
    file = tmp_path / "session.jsonl"
    rows = turns(LARGE)
    rows[0] = rows[0].replace(b"look", b"Xylophone")
    file.write_bytes(encoded(header("large")) + b"".join(rows))
    (tmp_path / "last").write_text(json.loads(rows[-1])["id"])
    size = file.stat().st_size

    runs = [measure("page", tmp_path) for _ in range(ROUNDS)]
    first, bare = (min(run[name] for run in runs) for name in ("first", "bare"))
    seen = measure("grown", tmp_path)

    said(f"{megabytes(size)}: first page {first / bare:.2f} times a bare decode; {grew(runs[0])}")
    said(
        f"{seen['later'] * 1e3:.1f} ms after an appended entry; a search to its first entry "
        f"{seen['search'] / seen['bare']:.2f} times a bare decode"
    )
    if not SMOKE:
        assert first <= 2.5 * bare
        assert seen["later"] <= 0.020
        assert runs[0]["grown"] <= size / 4


def test_a_line_of_many_megabytes_is_passed_in_linear_time(
    tmp_path: Path, measure: Measure
) -> None:
    image = {"type": "image", "mimeType": "image/png", "data": "QUJD" * (LINE // 4)}
    rows = [header("line"), entry(0, None, role="user", content=[image])]
    rows += [entry(n + 1, n, role="user", content=f"after {n}") for n in range(10)]
    file = tmp_path / "session.jsonl"
    file.write_bytes(b"".join(map(encoded, rows)))

    seen = measure("line", tmp_path)

    said(
        f"a line of {megabytes(LINE)}: page of eleven rows {seen['first'] / seen['bare']:.2f} times "
        f"a bare decode; {grew(seen)}"
    )
    assert seen["named"] == f"[image image/png, {LINE // 4 * 3:,} bytes]"
    if not SMOKE:
        assert seen["first"] <= 6 * seen["bare"]
        assert seen["peak"] <= 4 * LINE


def test_a_search_through_many_forks_costs_little_more_than_decoding_them(
    tmp_path: Path, measure: Measure
) -> None:
    rows = turns(FORK)
    count = len(rows)
    rows.append(encoded(entry(count, count - 1, role="user", content="a Xylophone")))
    for number in range(FORKS + 1):
        own = {"parentSession": "/w/2026_fork00000.jsonl"} if number else {}
        last = encoded(entry(count + 1, count, role="user", content=f"fork {number}"))
        file = tmp_path / f"2026-11-30T00-00-00-000Z_fork{number:05}.jsonl"
        file.write_bytes(encoded(header(f"fork{number:05}", **own)) + b"".join([*rows, last]))

    seen = measure("forks", tmp_path)

    said(
        f"{FORKS:,} forks of {FORK / 1e3:.0f} kB: search {seen['first'] / seen['bare']:.2f} times "
        f"a bare decode, one hit with {seen['also_in']:,} copies; {grew(seen)}"
    )
    assert seen["also_in"] == FORKS
    if not SMOKE:
        assert seen["first"] <= 12 * seen["bare"]
        assert seen["grown"] <= 100_000_000
