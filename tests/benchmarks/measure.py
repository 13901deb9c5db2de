"""One measurement in a process of its own, so that its memory can be told from others'.

Called as ``measure.py SCENARIO FOLDER``; prints its figures as one JSON object. Seconds are
processor time: what else the machine does is left out. Sizes are bytes.
"""

from __future__ import annotations

import gc
import json
import os
import re
import statistics
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import msgspec
from yardstick import Entry

from hindnote import HostCall
from hindnote.core.call import Dispatcher
from hindnote.core.plugins.hosts import Hosts
from hindnote.hosts.pi import plugin
from hindnote.hosts.pi.sessions.catalogue import Catalogue, Places

STATUS = Path("/proc/self/status")
PIECE = 1 << 20

Figures = dict[str, Any]


def decode(*files: Path) -> None:
    decoder = msgspec.json.Decoder(Entry)
    for path in files:
        with path.open("rb") as file:
            for line in file:
                decoder.decode(line)


def status(field: str) -> int:
    found = re.search(rf"{field}:\s+(\d+)", STATUS.read_text())
    return int(found[1]) * 1024 if found else 0


def memory(work: Callable[[], object]) -> Figures:
    """Return by how much private memory grew over some work, at its end and at its peak."""
    gc.collect()
    if not STATUS.exists():
        work()
        return {"grown": 0, "peak": 0}
    # Starts the peak anew.
    Path("/proc/self/clear_refs").write_text("5")
    private, resident = status("RssAnon"), status("VmRSS")
    work()
    return {"grown": status("RssAnon") - private, "peak": status("VmHWM") - resident}


def seconds(work: Callable[[], object], rounds: int = 1, clock: Any = process_time) -> float:
    times = []
    for _ in range(rounds):
        started = clock()
        work()
        times.append(clock() - started)
    return min(times)


def listing(folder: Path, **arguments: Any) -> Callable[[], Figures]:
    """Return what makes one call of ``history_list`` and checks that it was answered."""
    dispatcher = Dispatcher(Hosts.of({"pi": plugin}), folder / "notes")
    file = None if "session" in arguments else folder / "session.jsonl"
    call = HostCall(host="pi", cwd=folder, session_file=file)

    def work() -> Figures:
        answer = dispatcher.call(call, "history_list", arguments)
        assert not answer.is_error, answer.text
        return dict(answer.result)

    # What the first call imports is not the session's.
    small = folder / "small.jsonl"
    small.write_text('{"type":"session","version":3,"id":"small","cwd":"/w"}\n')
    other = HostCall(host="pi", cwd=folder, session_file=small)
    dispatcher.call(other, "history_list", {"query": "needle"})
    small.unlink()
    return work


def timed(work: Callable[[], object]) -> tuple[Figures, float]:
    taken: list[float] = []
    figures = memory(lambda: taken.append(seconds(work)))
    return figures, taken[0]


def page(folder: Path) -> Figures:
    """The last page of one large session, asked for once."""
    figures, first = timed(listing(folder))
    figures["bare"] = seconds(lambda: decode(folder / "session.jsonl"))
    return {**figures, "first": first}


def grown(folder: Path) -> Figures:
    """The last page of one large session after each of some appended entries, and a search."""
    file = folder / "session.jsonl"
    page = listing(folder)
    page()
    later = []
    for number in range(10):
        entry = {"type": "message", "id": f"more{number}", "parentId": f"more{number - 1}"}
        if not number:
            entry["parentId"] = (folder / "last").read_text()
        line = {**entry, "message": {"role": "user", "content": f"appended {number}"}}
        with file.open("ab") as out:
            out.write(json.dumps(line).encode() + b"\n")
        later.append(seconds(page))
    assert page()["items"][-1]["content"] == "appended 9"
    search = listing(folder, query="xylophone")
    searched = seconds(search)
    assert len(search()["items"]) == 1
    bare = seconds(lambda: decode(file), 3)
    return {"later": statistics.median(later), "search": searched, "bare": bare}


def line(folder: Path) -> Figures:
    """Ten ordinary entries behind one that holds a picture in a line of many megabytes."""
    page = listing(folder, limit=11)
    figures, first = timed(page)
    rows = page()["items"]
    assert [row["content"] for row in rows[1:]] == [f"after {number}" for number in range(10)]
    figures["named"] = rows[0]["content"]
    figures["bare"] = seconds(lambda: decode(folder / "session.jsonl"))
    return {**figures, "first": first}


def forks(folder: Path) -> Figures:
    """A word in an entry that every one of many forks holds a copy of."""
    search = listing(folder, session="*", query="xylophone")
    figures, first = timed(search)
    (row,) = search()["items"]
    figures["also_in"] = row["also_in"]
    figures["bare"] = seconds(lambda: decode(*folder.glob("*.jsonl")))
    return {**figures, "first": first}


def search(folder: Path) -> Figures:
    """The memory that a search through every session takes."""
    found = listing(folder, session="*", query="xylophone", limit=1)
    figures, first = timed(found)
    assert len(found()["items"]) == 1
    return {**figures, "first": first}


def catalogue(folder: Path) -> Figures:
    """The catalogue of many sessions, beside looking at their files."""
    where = Places((folder,), ())
    known = Catalogue()
    found: list[Any] = []
    figures = memory(lambda: found.extend(known.sessions(where)))
    figures["sessions"] = len(found)

    def walk() -> list[tuple[str, int]]:
        names = (file for file in os.scandir(folder) if file.name.endswith(".jsonl"))
        return [(file.path, file.stat().st_size) for file in names]

    def through() -> None:
        for path, _ in walk():
            with open(path, "rb", buffering=0) as file:  # noqa: PTH123 - the least to be done
                while file.read(PIECE):
                    pass

    figures["through"] = seconds(through, 5)
    figures["cold"] = seconds(lambda: Catalogue().sessions(where), 5)
    figures["walk"] = seconds(walk, 5)
    figures["warm"] = seconds(lambda: known.sessions(where), 5)
    return figures


def newest(folder: Path) -> Figures:
    """A hit in the newest session, by the clock: the median of some calls, and the best."""
    found = listing(folder, session="*", query="glockenspiel", limit=1)
    assert len(found()["items"]) == 1
    times = [seconds(found, clock=perf_counter) for _ in range(15)]
    return {"median": statistics.median(times), "best": min(times), "cpu": seconds(found, 5)}


def named(folder: Path) -> Figures:
    """The last page of one large session, asked for once by its name."""
    return {"first": timed(listing(folder, session="pi:large"))[1]}


def browsed(folder: Path) -> Figures:
    """The newest page of one large session in the browser: opened, and opened again."""
    from starlette.testclient import TestClient

    from hindnote.core.browse.app import make_app
    from hindnote.core.browse.world import World
    from hindnote.core.places.home import NotesHome

    call = HostCall(host="pi", cwd=folder)
    dispatcher = Dispatcher(Hosts.of({"pi": plugin}), folder / "notes")
    client = TestClient(make_app(World(dispatcher, call, NotesHome(folder / "notes"), "/x/")))

    def shown(path: str) -> bytes:
        answer = client.get(f"/x/{path}")
        assert answer.status_code == 200, answer.text
        return answer.content

    # What the first pages import and compile is not the session's.
    small = folder / "2026-11-30T00-00-00-000Z_small.jsonl"
    message = '{"type":"message","id":"e","parentId":null,"message":{"role":"user","content":"x"}}'
    small.write_text(f'{{"type":"session","version":3,"id":"small","cwd":"/w"}}\n{message}\n')
    shown("s/pi:small")
    small.unlink()
    sizes: list[int] = []
    first = seconds(lambda: sizes.append(len(shown("s/pi:large"))))
    again = seconds(lambda: sizes.append(len(shown("s/pi:large"))), 5)
    return {"first": first, "again": again, "size": max(sizes)}


SCENARIOS = (browsed, named, page, grown, line, forks, search, catalogue, newest)

if __name__ == "__main__":
    scenario = next(one for one in SCENARIOS if one.__name__ == sys.argv[1])
    sys.stdout.write(json.dumps(scenario(Path(sys.argv[2]))))
