"""What a search through every session costs, beside reading the same bytes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from yardstick import SMOKE, said

from hindnote import HostCall
from hindnote.core.call import Dispatcher
from hindnote.core.plugins.hosts import Hosts
from hindnote.hosts.pi import plugin

SESSIONS = 12 if SMOKE else int(os.environ.get("HINDNOTE_BENCH_SESSIONS", "3000"))
SIZE = 20_000 if SMOKE else 1_000_000
ROUNDS = 1 if SMOKE else 3
NEEDLE = "xylophone"

Measure = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def sessions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of sessions; the needle is in the oldest, and another in the newest."""
    folder = tmp_path_factory.mktemp("corpus")
    text = "def work(number):\n\treturn [number, 'a line of some output', \"quoted\"]\n" * 40
    body = []
    for number in range(SIZE // (len(text) + 400)):
        message = {"role": "user", "content": f"turn {number}\n{text}\x1b[0m ─ ünïcode"}
        row = {"type": "message", "id": f"{number:08x}", "parentId": None, "message": message}
        row["parentId"] = f"{number - 1:08x}" if number else None
        body.append(json.dumps(row, ensure_ascii=False))
    rest = "\n".join(body) + "\n"
    for number in range(SESSIONS):
        head = {"type": "session", "version": 3, "id": f"s{number:05}", "cwd": "/w"}
        word = {0: NEEDLE, SESSIONS - 1: "glockenspiel"}.get(number, "nothing")
        last = {"role": "user", "content": f"about a {word.title()}"}
        row = {"type": "message", "id": "last", "parentId": None, "message": last}
        file = folder / f"2026-11-30T00-00-00-000Z_s{number:05}.jsonl"
        file.write_text(f"{json.dumps(head)}\n{rest}{json.dumps(row)}\n", "utf-8")
        os.utime(file, (1_796_000_000 + number, 1_796_000_000 + number))
    return folder


def best(work: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    times = []
    for _ in range(ROUNDS):
        started = clock()
        work()
        times.append(clock() - started)
    return min(times)


def search(sessions: Path, word: str, monkeypatch: pytest.MonkeyPatch) -> Callable[[], object]:
    monkeypatch.setenv("PI_CODING_AGENT_SESSION_DIR", str(sessions))
    monkeypatch.setenv("PI_CODING_AGENT_DIR", str(sessions / "none"))
    monkeypatch.setenv("HINDNOTE_SEARCH_SECONDS", "600")
    dispatcher = Dispatcher(Hosts.of({"pi": plugin}), sessions / "notes")
    call = HostCall(host="pi", cwd=sessions)

    def run() -> None:
        answer = dispatcher.call(call, "history_list", {"session": "*", "query": word, "limit": 1})
        assert len(answer.result["items"]) == 1, answer.text

    return run


def plain(sessions: Path) -> None:
    """Read every file, and look for the needle in its lower-cased bytes."""
    for file in sessions.iterdir():
        if file.suffix == ".jsonl":
            file.read_bytes().lower().find(NEEDLE.encode())


@pytest.mark.skipif(shutil.which("rg") is None, reason="ripgrep is not installed")
def test_a_search_with_ripgrep_costs_little_more_than_ripgrep(
    sessions: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ["rg", "--no-config", "-a", "-i", "-l", NEEDLE, str(sessions)]

    def ripgrep() -> None:
        subprocess.run(command, check=True, capture_output=True, timeout=600)

    run = search(sessions, NEEDLE, monkeypatch)
    ripgrep()
    baseline, ours = best(ripgrep), best(run)

    said(f"{SESSIONS} sessions: ripgrep {baseline:.2f} s, search {ours:.2f} s")
    if not SMOKE:
        assert ours <= 3 * baseline + 0.1


def test_a_search_without_ripgrep_costs_little_more_than_a_plain_one(
    sessions: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name, path=None: None)
    run = search(sessions, NEEDLE, monkeypatch)
    # One thread does all the work of both, so processor time leaves out what else is running.
    baseline = best(lambda: plain(sessions), time.process_time)
    ours = best(run, time.process_time)

    said(f"{SESSIONS} sessions: read and find {baseline:.2f} s, search {ours:.2f} s")
    if not SMOKE:
        assert ours <= 2 * baseline


def test_a_hit_in_the_newest_session_comes_at_once(sessions: Path, measure: Measure) -> None:
    seen = measure("newest", sessions)

    said(
        f"{SESSIONS} sessions: a hit in the newest {seen['best'] * 1e3:.0f} ms at best, "
        f"{seen['median'] * 1e3:.0f} ms at the median, {seen['cpu'] * 1e3:.0f} ms of processor time"
    )
    # By the clock it takes longer where others use the processors.
    if not SMOKE:
        assert seen["cpu"] <= 0.1


def test_a_catalogue_costs_little_more_than_looking_at_the_files(
    sessions: Path, measure: Measure
) -> None:
    seen = measure("catalogue", sessions)

    cold, warm = seen["cold"] / seen["through"], seen["warm"] / seen["walk"]
    said(
        f"{SESSIONS} sessions: cold {cold:.2f} times reading the files, warm {warm:.2f} times "
        f"a walk; private memory grew by {seen['grown'] / 1e6:.0f} MB"
    )
    assert seen["sessions"] == SESSIONS
    if not SMOKE:
        assert cold <= 4  # the name may be anywhere in a file
        assert warm <= 2.5
        assert seen["grown"] < 100_000_000


@pytest.mark.parametrize("ripgrep", [True, False], ids=["ripgrep", "own scan"])
def test_a_search_takes_little_memory(sessions: Path, measure: Measure, ripgrep: bool) -> None:
    if ripgrep and shutil.which("rg") is None:
        pytest.skip("ripgrep is not installed")

    seen = measure("search", sessions, **({} if ripgrep else {"PATH": "/nowhere"}))

    said(
        f"{SESSIONS} sessions: private memory grew by {seen['grown'] / 1e6:.0f} MB, "
        f"{seen['peak'] / 1e6:.0f} MB at its peak"
    )
    if not SMOKE:
        assert seen["peak"] < 150_000_000
