"""What a session costs that is twice as large in one dimension: about twice as much."""

from __future__ import annotations

import gc
from pathlib import Path
from time import process_time

import pytest
from shapes import HEADERS, SESSION, SHAPES, encoded
from yardstick import SMOKE, said

from hindnote import HostCall
from hindnote.core.call import Dispatcher
from hindnote.core.plugins.hosts import Hosts
from hindnote.hosts.claude import plugin as claude
from hindnote.hosts.codex import plugin as codex
from hindnote.hosts.pi import plugin as pi

AT_MOST = 2.2
PAIRS = 1 if SMOKE else 3


def seconds(folder: Path, host: str, data: bytes) -> float:
    """Return the processor time of a first page and two searches: into every event, and line."""
    before = "rollout-2026-11-30T09-00-00-" if host == "codex" else ""
    file = folder / f"{before}{SESSION}.jsonl"
    file.unlink(missing_ok=True)
    file.write_bytes(data)
    dispatcher = Dispatcher(
        Hosts.of({"pi": pi, "claude": claude, "codex": codex}), folder / "notes"
    )
    call = HostCall(host=host, cwd=folder, session_file=file)
    gc.collect()
    started = process_time()
    for arguments in ({}, {"query": ["zq"]}, {"query": ["not in there"]}):
        answer = dispatcher.call(call, "history_list", arguments)
        assert not answer.is_error, answer.text
    return process_time() - started


@pytest.mark.parametrize("shape", SHAPES)
def test_twice_as_much_takes_about_twice_the_time(tmp_path: Path, shape: str) -> None:
    write, count = SHAPES[shape]
    host = shape.partition("_")[0]
    count = min(count, 50) if SMOKE else count
    behind = HEADERS.get(host, iter)
    small, large = (encoded(behind(write(n))) for n in (count, 2 * count))

    once = min(seconds(tmp_path, host, small) for _ in range(PAIRS))
    twice = min(seconds(tmp_path, host, large) for _ in range(PAIRS))

    said(f"{shape}, {count:,}: {once:.2f} s, twice as many {twice / once:.2f} times as long")
    if not SMOKE:
        assert twice <= AT_MOST * once
