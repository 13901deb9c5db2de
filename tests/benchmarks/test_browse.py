"""What pages for people cost, beside the lists and calls that show the same."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from http.cookiejar import CookieJar
from pathlib import Path
from time import perf_counter
from typing import Any
from urllib.parse import unquote

import pytest
from test_scale import LARGE, encoded, header, megabytes, turns
from yardstick import SMOKE, said

ROUNDS = 1 if SMOKE else 5
SESSIONS = 12 if SMOKE else 3_000
SIZE = LARGE if SMOKE else 133_000_000
LARGEST_PAGE = 2_000_000

HINDNOTE = (sys.executable, "-c", "from hindnote.core.cli import main; main()")

Measure = Callable[..., dict[str, Any]]


def test_the_newest_page_of_a_large_session_costs_little_more_than_a_list_of_it(
    tmp_path: Path, measure: Measure
) -> None:
    file = tmp_path / "2026-11-30T00-00-00-000Z_large.jsonl"
    file.write_bytes(encoded(header("large")) + b"".join(turns(SIZE)))

    listed = min(measure("named", tmp_path)["first"] for _ in range(ROUNDS))
    runs = [measure("browsed", tmp_path) for _ in range(ROUNDS)]
    first, again = (min(run[name] for run in runs) for name in ("first", "again"))

    said(
        f"{megabytes(SIZE)}: newest page {first / listed:.2f} times a cold history_list "
        f"({listed * 1e3:.0f} ms), again {again / listed:.2f} times; {runs[0]['size']:,} bytes"
    )
    assert runs[0]["size"] < LARGEST_PAGE
    if not SMOKE:
        assert first <= 1.2 * listed
        assert again <= 0.3 * listed


@pytest.fixture
def many(tmp_path: Path) -> dict[str, str]:
    """Return the environment of a person with many sessions of both hosts."""
    claude = tmp_path / "claude/projects/-w"
    pi = tmp_path / "pi"
    claude.mkdir(parents=True)
    pi.mkdir()
    for number in range(SESSIONS):
        text = f"Question {number}: why does it fail?"
        if number % 2:
            row = {"type": "message", "id": "e", "parentId": None}
            rows = [header(f"p{number:07}"), {**row, "message": {"role": "user", "content": text}}]
            file = pi / f"2026-11-30T00-00-00-000Z_p{number:07}.jsonl"
        else:
            id_ = f"{number:08d}-bbbb-4ccc-8ddd-eeeeeeeeeeee"
            rows = [{"type": "user", "uuid": "u", "parentUuid": None, "sessionId": id_, "cwd": "/w",
                     "timestamp": "2026-11-30T09:00:00.000Z",
                     "message": {"role": "user", "content": text}}]  # fmt: skip
            file = claude / f"{id_}.jsonl"
        file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return {
        **os.environ,
        "CLAUDE_CONFIG_DIR": str(tmp_path / "claude"),
        "PI_CODING_AGENT_SESSION_DIR": str(pi),
        "PI_CODING_AGENT_DIR": str(tmp_path / "none"),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "HINDNOTE_HOME": str(tmp_path / "notes"),
        "PYTHONUNBUFFERED": "1",
    }


def taken(work: Callable[[], object]) -> float:
    started = perf_counter()
    work()
    return perf_counter() - started


def test_the_first_page_over_many_sessions_costs_little_more_than_a_list_of_them(
    many: dict[str, str], tmp_path: Path
) -> None:
    def listed() -> None:
        command = [*HINDNOTE, "sessions"]
        subprocess.run(command, env=many, cwd=tmp_path, check=True, capture_output=True)

    listed()
    warm = min(taken(listed) for _ in range(ROUNDS))
    pages = [first_page(many, tmp_path) for _ in range(ROUNDS)]
    first, again = (min(page[at] for page in pages) for at in (0, 1))

    said(
        f"{SESSIONS:,} sessions: first page {first / warm:.2f} times a warm hindnote sessions "
        f"({warm * 1e3:.0f} ms by the clock), again {again / warm:.2f} times; "
        f"{pages[0][2]:,} bytes"
    )
    assert pages[0][2] < LARGEST_PAGE
    if not SMOKE:
        assert first <= 1.5 * warm


def first_page(environment: dict[str, str], folder: Path) -> tuple[float, float, int]:
    """Return how long the first page takes in a new server, and again, and its size."""
    command = [*HINDNOTE, "browse", "--no-open"]
    process = subprocess.Popen(
        command, env=environment, cwd=folder, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        address = process.stdout.readline().split()[1]
        door = Path(unquote(process.stdout.readline().split()[1].removeprefix("file://")))
        entrance = door.read_text().split("url=")[1].split('"')[0]
        jar = urllib.request.HTTPCookieProcessor(CookieJar())
        browser = urllib.request.build_opener(jar)
        browser.open(entrance).close()
        sizes: list[int] = []

        def page() -> None:
            with browser.open(address) as answer:
                sizes.append(len(answer.read()))

        return taken(page), taken(page), max(sizes)
    finally:
        process.terminate()
        process.wait(60)
        process.stdout.close()
