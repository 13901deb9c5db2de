"""What the benchmarks measure with, and the least that ours is compared with."""

from __future__ import annotations

import gc
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

SMOKE = os.environ.get("HINDNOTE_BENCH") == "smoke"
ROUNDS = 1 if SMOKE else 5


def best(
    work: Callable[[], object], before: Callable[[], object] = gc.collect, rounds: int = ROUNDS
) -> float:
    """Return the least processor time of a few rounds, in seconds: others use the machine too."""
    times = []
    for _ in range(rounds):
        before()
        started = time.process_time()
        work()
        times.append(time.process_time() - started)
    return min(times)


def times_as_long(
    work: Callable[[], object],
    least: Callable[[], object],
    clock: Callable[[], float] = time.process_time,
    pairs: int = 1 if SMOKE else 7,
) -> float:
    """Return how many times as long the work takes as the least, the median of several pairs.

    The machine's own speed changes from one second to the next, and little within a pair.
    """

    def taken(one: Callable[[], object]) -> float:
        gc.collect()
        started = clock()
        one()
        return clock() - started

    return statistics.median(taken(work) / taken(least) for _ in range(pairs))


def said(line: str) -> None:
    """Say a figure, for the person who runs this and for the record."""
    sys.stderr.write(line + "\n")


# -- a session of Pi, at the least ----------------------------------------------


class Call(msgspec.Struct):
    type: str = ""
    id: str | None = None


class Message(msgspec.Struct):
    role: str = ""
    content: list[Call] | str = ""
    toolCallId: str | None = None


class Entry(msgspec.Struct):
    """The spine of an entry, the least that any index must read."""

    type: str
    id: str | None = None
    parentId: str | None = None
    timestamp: str | None = None
    message: Message | None = None


# -- session files, at the least ------------------------------------------------


def walk(root: Path) -> list[tuple[str, int]]:
    """Return path and size of each file in the folders of a folder."""
    folders = [entry.path for entry in os.scandir(root)]
    files = [file for folder in folders for file in os.scandir(folder)]
    return [(file.path, file.stat().st_size) for file in files]


def read_whole(root: Path) -> None:
    """Read each file in the folders of a folder from beginning to end."""
    for path, _ in walk(root):
        with open(path, "rb") as file:  # noqa: PTH123 - the least that could be done
            while file.read(1 << 18):
                pass


def read_ends(root: Path) -> None:
    """Read 8 KiB at both ends of each file in the folders of a folder."""
    for path, size in walk(root):
        with open(path, "rb") as file:  # noqa: PTH123 - the least that could be done
            file.read(8192)
            file.seek(max(0, size - 8192))
            file.read(8192)


# -- memory ---------------------------------------------------------------------

TELLS_MEMORY = Path("/proc/self/status").exists()

_MEASURE = """
import re, sys
from pathlib import Path
from hindnote.core.history.timeline import Timeline
{imports}

def anonymous():
    return int(re.search(r"RssAnon:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) * 1024

before = anonymous()
projection = {opened}(Path(sys.argv[1]))
timeline = Timeline(projection)
print(anonymous() - before)
"""


def memory_grown(session: Path, imports: str, opened: str) -> int:
    """Return by how many bytes the private memory of a process grows that opens a session.

    Args:
        session: Its file.
        imports: What the process imports before it.
        opened: The function that opens a file.
    """
    code = _MEASURE.format(imports=imports, opened=opened)
    command = [sys.executable, "-c", code, str(session)]
    done = subprocess.run(command, capture_output=True, check=True, text=True, timeout=120)
    return int(done.stdout)
