"""What ranked questions cost over many sessions, in a process of its own, so that its memory tells.

``recall_costs.py FOLDER SESSIONS BYTES`` writes the sessions and prints the figures as JSON. Seconds are
processor time, sizes bytes. The measure is the least that could be done: a bare decode of the same
lines, the same words put into a bare FTS5 table in one transaction, and bare queries of that table.
"""

from __future__ import annotations

import gc
import json
import os
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import recall_shapes
from measure import decode, memory, seconds

from hindnote import HostCall
from hindnote.core.call import Dispatcher
from hindnote.core.history.operations.indexed import passages
from hindnote.core.history.operations.lookups import Lookups
from hindnote.core.history.timeline import Timeline
from hindnote.core.plugins.hosts import Hosts
from hindnote.core.recall.words import terms_of
from hindnote.core.system import process
from hindnote.hosts.claude import plugin
from hindnote.hosts.claude.sessions.projection import open_transcript

QUESTIONS = 12
BATCH = 20


def questions(language: recall_shapes.Language) -> list[str]:
    """Return questions of six words, of which some are rare and some are in every session."""
    draw = language.random
    common, rare = language.words[:2_000], language.words[2_000:]
    return [" ".join([*draw.sample(common, 4), *draw.sample(rare, 2)]) for _ in range(QUESTIONS)]


def tokens(files: list[Path]) -> Iterator[str]:
    """Yield the words of each passage that is indexed, as one text."""
    for file in files:
        projection = open_transcript(file)
        assert projection is not None
        timeline = Timeline(projection)
        for passage in passages(timeline, Lookups(), range(timeline.size)):
            yield " ".join(term for piece in passage.pieces for term in terms_of(piece))


def bare(files: list[Path], database: sqlite3.Connection) -> dict[str, float]:
    """Return the seconds of the least that could be done to make a table of all passages."""
    figures = {"decode": seconds(lambda: decode(*files)), "insert": 0.0}
    database.execute("CREATE VIRTUAL TABLE bare USING fts5(body)")
    database.execute("BEGIN")
    for start in range(0, len(files), BATCH):
        texts = list(tokens(files[start : start + BATCH]))
        gc.collect()
        figures["insert"] += seconds(
            lambda texts=texts: database.executemany(  # type: ignore[misc]
                "INSERT INTO bare VALUES (?)", ((text,) for text in texts)
            )
        )
    figures["insert"] += seconds(database.commit)
    return figures


def bare_query(database: sqlite3.Connection, question: str) -> list[Any]:
    """Return the best passages of a question, by FTS5's own formula."""
    words = " OR ".join(
        f'"{term}"' for word in question.split() for term in terms_of(word.encode())
    )
    asked = "SELECT rowid FROM bare WHERE bare MATCH ? ORDER BY rank LIMIT 8"
    return database.execute(asked, (words,)).fetchall()


def answered(folder: Path, files: list[Path], asked: list[str]) -> dict[str, Any]:
    """Return what questions cost in a process that stays, as the hosts' helpers do."""
    process.settle()
    dispatcher = Dispatcher(Hosts.of({"claude": plugin}), folder / "notes")
    call = HostCall(host="claude", cwd=folder, config_dir=folder)

    def ask(question: str) -> None:
        answer = dispatcher.call(call, "history_list", {"session": "*", "about": question})
        assert answer.result["sessions_covered"] == len(files), answer.text

    cold: list[float] = []
    figures = memory(lambda: cold.append(seconds(lambda: ask("a first question"))))
    figures["cold"] = cold[0]
    figures["index"] = sum(
        file.stat().st_size for file in (folder / "cache").rglob("recall*") if file.is_file()
    )
    for question in asked:
        ask(question)
    figures["warm"] = [seconds(lambda q=q: ask(q), 3) for q in asked]  # type: ignore[misc]
    figures |= {"before": [], "appended": []}
    for number, question in enumerate(asked):
        # The same question before and after, so that the difference is what the event costs.
        ask(question)
        figures["before"].append(seconds(lambda q=question: ask(q)))  # type: ignore[misc]
        append(files[0], number)
        figures["appended"].append(seconds(lambda q=question: ask(q)))  # type: ignore[misc]
    return figures


def append(file: Path, number: int) -> None:
    """Append an event that follows the last one."""
    lines = file.read_bytes().splitlines()
    row, last = msgspec.json.decode(lines[0]), msgspec.json.decode(lines[-1])
    row |= {"uuid": f"{number:032x}", "parentUuid": last["uuid"]}
    with file.open("a") as opened:
        opened.write(json.dumps(row) + "\n")


def main(folder: Path, count: int, size: int) -> None:
    """Measure, and print the figures."""
    total = recall_shapes.write(folder, count, size)
    files = sorted((folder / "projects").rglob("*.jsonl"))
    os.environ |= {
        "XDG_CACHE_HOME": str(folder / "cache"),
        "CLAUDE_CONFIG_DIR": str(folder),
        "HINDNOTE_SEARCH_SECONDS": "3600",
    }
    asked = questions(recall_shapes.Language())
    with sqlite3.connect(folder / "bare.sqlite3") as database:
        figures: dict[str, Any] = {"bytes": total, **bare(files, database)}
        figures["bare"] = [seconds(lambda q=q: bare_query(database, q), 3) for q in asked]  # type: ignore[misc]
    print(json.dumps(figures | answered(folder, files, asked)))  # noqa: T201


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
