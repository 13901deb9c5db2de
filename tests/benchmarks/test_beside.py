"""What searches beside each other in one process cost, beside the same searches one after another."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import pytest
from yardstick import SMOKE, said

from hindnote import HostCall
from hindnote.core.call import Dispatcher
from hindnote.core.plugins.hosts import Hosts
from hindnote.hosts.pi import plugin

SMALL = 20 if SMOKE else 400
LARGE = 100_000 if SMOKE else 12_000_000
AT_ONCE = 4


def write(folder: Path, number: int, size: int) -> None:
    rows = [json.dumps({"type": "session", "version": 3, "id": f"s{number:06d}", "cwd": "/w"})]
    entry = {"type": "message", "timestamp": "2026-11-30T09:00:00.000Z"}
    entry |= {"message": {"role": "user", "content": "some words of a person " * 20}}
    for place in range(size // 600):
        above = f"e{place - 1}" if place else None
        rows.append(json.dumps({**entry, "id": f"e{place}", "parentId": above}))
    name = f"2026-11-30T09-00-00-000Z_s{number:06d}.jsonl"
    (folder / name).write_text("\n".join(rows) + "\n")


@pytest.fixture(params=[{"query": ["qz"]}, {"about": "words of a person"}], ids=["query", "about"])
def search(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[], None]:
    for number in range(SMALL):
        write(tmp_path, number, 20_000)
    for number in range(SMALL, SMALL + 3):
        write(tmp_path, number, LARGE)
    monkeypatch.setenv("PI_CODING_AGENT_SESSION_DIR", str(tmp_path))
    monkeypatch.setenv("PI_CODING_AGENT_DIR", str(tmp_path / "none"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("HINDNOTE_SEARCH_SECONDS", "600")
    dispatcher = Dispatcher(Hosts.of({"pi": plugin}), tmp_path / "notes")
    call = HostCall(host="pi", cwd=tmp_path)

    def work() -> None:
        # So short a word rules no session out.
        asked = {"session": "*", **request.param}
        found = dispatcher.call(call, "history_list", asked).result
        assert (found["sessions_covered"], found["sessions_remaining"]) == (SMALL + 3, 0)

    work()
    return work


def test_searches_beside_each_other_take_what_they_take_one_after_another(
    request: pytest.FixtureRequest, search: Callable[[], None]
) -> None:
    started = perf_counter()
    for _ in range(AT_ONCE):
        search()
    alone = perf_counter() - started

    threads = [threading.Thread(target=search) for _ in range(AT_ONCE)]
    started = perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    together = perf_counter() - started

    kind = request.node.callspec.id
    said(
        f"{AT_ONCE} searches ({kind}) beside each other: {together / alone:.2f} times one after another"
    )
    if not SMOKE:
        assert together <= 1.3 * alone
