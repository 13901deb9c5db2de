"""The index under kills, other processes, damage and a full disk: no wrong answer, ever."""

from __future__ import annotations

import json
import os
import random
import sqlite3
import subprocess
import sys
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from recall_corpus import write

from hindnote.core.call import Dispatcher
from hindnote.core.plugins.hosts import Hosts
from hindnote.core.plugins.models import HostCall
from hindnote.core.recall import batch
from hindnote.core.recall.index import FREE_MOST
from hindnote.core.recall.schema import delete, index_file, state

CHILD = Path(__file__).with_name("recall_child.py")
QUESTION = "memory of the browser tab climbs, and idempotency keys"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setenv("PI_CODING_AGENT_DIR", str(tmp_path / "agent"))
    write(tmp_path)
    return tmp_path


def asked(folder: Path, question: str = QUESTION) -> list[dict[str, Any]]:
    dispatcher = Dispatcher(Hosts.load(), folder / "notes")
    call = HostCall(host="pi", cwd=folder, config_dir=folder / "agent")
    answer = dispatcher.call(call, "history_list", {"session": "*", "about": question})
    return list(answer.result["items"])


def child(folder: Path, *more: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(CHILD), str(folder), QUESTION, *more],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def answer_of(process: subprocess.Popen[str]) -> list[dict[str, Any]]:
    out, errors = process.communicate(timeout=120)
    assert process.returncode == 0 and "Traceback" not in errors, errors
    return list(json.loads(out.splitlines()[-1]))


@pytest.mark.campaign
def test_a_kill_while_indexing_leaves_an_index_that_answers_rightly(
    folder: Path, rounds: Any
) -> None:
    expected, draw = asked(folder), random.Random(5)
    files = sorted(folder.rglob("*.jsonl"))
    killed = 0
    for _ in range(rounds(200)):
        if draw.random() < 0.2:
            delete(index_file())
        for file in draw.sample(files, 40):
            # The same session in another state of its file is indexed again.
            changed = file.stat().st_mtime_ns + draw.randrange(1, 999)
            os.utime(file, ns=(changed, changed))
        process = child(folder)
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        with suppress(subprocess.TimeoutExpired):
            process.wait(draw.random() * 0.3)
        killed += process.poll() is None
        process.kill()
        process.communicate()
        assert asked(folder) == expected
    assert killed
    with closing(sqlite3.connect(index_file())) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_eight_processes_that_index_at_once_all_answer_rightly(folder: Path) -> None:
    expected = asked(folder)
    delete(index_file())

    processes = [child(folder) for _ in range(8)]

    assert [answer_of(process) for process in processes] == [expected] * 8
    assert asked(folder) == expected


def test_a_full_disk_costs_the_index_and_no_answer(folder: Path) -> None:
    expected = asked(folder)
    delete(index_file())

    for limit in (0, 5_000, 60_000):
        assert answer_of(child(folder, str(limit))) == expected
    assert asked(folder) == expected


def test_damage_anywhere_in_the_index_gives_no_other_answer(folder: Path) -> None:
    expected, draw = asked(folder), random.Random(9)
    whole = index_file().read_bytes()
    for _ in range(60):
        damaged = bytearray(whole)
        start = draw.randrange(len(whole))
        for place in range(start, min(start + draw.choice((1, 40, 4_096)), len(whole))):
            damaged[place] = draw.randrange(256)
        delete(index_file())
        index_file().write_bytes(damaged)
        assert asked(folder) == expected


@pytest.mark.parametrize("start", [0, 100])
def test_an_index_that_cannot_be_opened_is_made_anew_and_kept(folder: Path, start: int) -> None:
    expected = asked(folder)
    whole = index_file().read_bytes()
    count = len(state(index_file()).known)
    delete(index_file())
    index_file().write_bytes(whole[:start] + b"x" * 4_096 + whole[start + 4_096 :])

    assert asked(folder) == expected
    assert len(state(index_file()).known) == count


def test_segments_are_joined_and_the_pages_that_this_frees_are_given_back(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = asked(folder)
    delete(index_file())
    monkeypatch.setattr(batch, "FULL", 1)

    assert asked(folder) == expected

    with closing(sqlite3.connect(index_file())) as database:
        sessions, segments = (
            database.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
            for table in ("sessions", "segments")
        )
        assert sessions > 80
        assert segments < 20
        assert database.execute("PRAGMA freelist_count").fetchone() <= (FREE_MOST,)


def test_what_stands_in_the_index_s_place_is_no_obstacle(folder: Path) -> None:
    expected = asked(folder)
    delete(index_file())
    index_file().mkdir()
    (index_file() / "file").touch()

    assert asked(folder) == expected


def test_a_session_that_grows_is_found_as_if_it_had_been_indexed_as_a_whole(folder: Path) -> None:
    file = next((folder / "config").rglob("*.jsonl"))
    lines = file.read_text("utf-8").splitlines(keepends=True)
    others = [one for one in folder.rglob("*.jsonl") if one != file]
    many = [line for other in others[:4] for line in other.read_text("utf-8").splitlines()]
    rows = [json.loads(line) for line in lines]
    last = rows[-1]["uuid"]
    for number, text in enumerate(many):
        me = f"00000000-0000-0000-0000-{number:012}"
        said = f"number{number} {text[:300]}"
        rows.append({**rows[0], "uuid": me, "parentUuid": last})
        rows[-1]["message"] = {"role": "user", "content": said}
        last = me
    printed = [json.dumps(row) + "\n" for row in rows]
    for size in range(1, len(printed) + 1, 5):
        file.write_text("".join(printed[:size]), "utf-8")
        asked(folder)
    file.write_text("".join(printed), "utf-8")
    questions = (QUESTION, "number3", "number17 number40", "checkout double clicks")
    grown = [asked(folder, question) for question in questions]

    delete(index_file())

    assert grown == [asked(folder, question) for question in questions]
    assert grown[1]


@pytest.mark.parametrize("longer", ["", "and much more of it "])
def test_a_session_rewritten_in_its_place_is_indexed_anew_although_it_also_grew(
    folder: Path, longer: str
) -> None:
    file = next((folder / "config").rglob("*.jsonl"))
    rows = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    said = {"type": "user", "message": {"role": "user", "content": "we keep the xylophone here"}}
    rows.append({**rows[0], **said, "uuid": "one", "parentUuid": rows[-1]["uuid"]})
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    assert len(asked(folder, "xylophone")) == 1

    written = file.read_text("utf-8").replace("xylophone", f"{longer}trombones")
    last = {**rows[0], **said, "uuid": "two", "parentUuid": "one"}
    file.write_text(
        f"{written}{json.dumps(last)}\n".replace("the xylophone", "a clarinet"), "utf-8"
    )

    assert asked(folder, "xylophone") == []
    assert len(asked(folder, "trombones")) == len(asked(folder, "clarinet")) == 1
