"""What the Claude Code decoder and catalogue cost, beside the least that could be done."""

from __future__ import annotations

import json
import random
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from yardstick import (
    ROUNDS,
    SMOKE,
    TELLS_MEMORY,
    best,
    memory_grown,
    read_whole,
    said,
    times_as_long,
    walk,
)

from hindnote.core.history.index_cache import FileCache
from hindnote.core.plugins.models import HostCall
from hindnote.hosts.claude.sessions.catalogue import Catalogue
from hindnote.hosts.claude.sessions.projection import Transcript

ROWS = 1_000 if SMOKE else 100_000
FILES = 50 if SMOKE else 3_000
OUTPUT = 800
"""Characters of a tool's output on the average; makes a file of about 150 MB."""


class Block(msgspec.Struct):
    type: str = ""
    id: str | None = None
    tool_use_id: str | None = None


class Message(msgspec.Struct):
    id: str | None = None
    role: str = ""
    content: list[Block] | str = ""


class Row(msgspec.Struct):
    type: str
    uuid: str | None = None
    parentUuid: str | None = None
    timestamp: str | None = None
    message: Message | None = None


COMMON = {
    "userType": "external",
    "entrypoint": "cli",
    "cwd": "/workspace/demo",
    "sessionId": "11111111-2222-4333-8444-555555555501",
    "version": "2.1.332",
    "gitBranch": "master",
}
USAGE = {"input_tokens": 10, "output_tokens": 25, "cache_read_input_tokens": 0}
LIMITS = {"cache_creation_input_tokens": 0, "service_tier": "standard"}


class Writer:
    """Makes rows: now and then a prompt, else text, two calls and their results in turn."""

    def __init__(self) -> None:
        self.chance = random.Random(7)
        words = "".join(self.chance.choices("abcdefghijklmnop   \n", k=300_000))
        self.words = words
        self.parent: str | None = None
        self.made = 0

    def text(self, size: int) -> str:
        start = self.chance.randrange(len(self.words) - size)
        return self.words[start : start + size]

    def row(self, type_: str, parent: str | None = None, **fields: Any) -> dict[str, Any]:
        row_id = str(uuid.UUID(int=self.chance.getrandbits(128)))
        second = self.made // 10
        time_ = f"2026-11-30T{second // 3600 % 24:02}:{second // 60 % 60:02}:{second % 60:02}.123Z"
        head = {"parentUuid": parent or self.parent, "isSidechain": False, "type": type_}
        self.parent, self.made = row_id, self.made + 1
        return {**head, **fields, "uuid": row_id, "timestamp": time_, **COMMON}

    def answer(self, message_id: str, block: dict[str, Any]) -> dict[str, Any]:
        message = {"id": message_id, "type": "message", "role": "assistant", "content": [block]}
        message |= {"model": "claude-opus-5-5", "stop_reason": None, "usage": {**USAGE, **LIMITS}}
        return self.row("assistant", message=message, requestId=f"req_{message_id}")

    def result(self, call: dict[str, Any]) -> dict[str, Any]:
        output = self.text(100 + int(self.chance.expovariate(1 / OUTPUT)) % 20_000)
        call_id = call["message"]["content"][0]["id"]
        block = {"tool_use_id": call_id, "type": "tool_result", "content": output}
        record = {"stdout": output, "stderr": "", "interrupted": False, "isImage": False}
        return self.row(
            "user",
            call["uuid"],
            message={"role": "user", "content": [block]},
            toolUseResult=record,
            sourceToolAssistantUUID=call["uuid"],
        )

    def turn(self) -> Iterator[dict[str, Any]]:
        if self.made % 40 < 8:
            yield self.row("user", message={"role": "user", "content": self.text(300)})
        message_id = f"msg_01{self.chance.getrandbits(96):024x}"
        yield self.answer(message_id, {"type": "text", "text": self.text(120)})
        calls = []
        for _ in range(2):
            call_id = f"toolu_01{self.chance.getrandbits(88):022x}"
            call = {"type": "tool_use", "id": call_id, "name": "Bash", "input": {"command": "ls"}}
            calls.append(self.answer(message_id, call))
            yield calls[-1]
        for made in calls:
            yield self.result(made)
        note = {"type": "hook_success", "content": "", "stdout": self.text(100), "exitCode": 0}
        yield self.row("attachment", attachment=note, rendered=None)
        leaf = {"type": "last-prompt", "lastPrompt": "go on", "leafUuid": self.parent}
        yield {**leaf, "sessionId": COMMON["sessionId"]}


def rows(count: int) -> Iterator[dict[str, Any]]:
    """Yield a session's rows until ``count`` of them are the conversation's."""
    writer = Writer()
    while writer.made < count:
        yield from writer.turn()


def line_of(row: dict[str, Any]) -> str:
    return json.dumps(row, separators=(",", ":")) + "\n"


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("claude") / "s.jsonl"
    with file.open("w", encoding="utf-8") as out:
        for row in rows(ROWS):
            out.write(line_of(row))
    return file


def test_a_cold_index_costs_little_more_than_decoding_the_lines(session: Path) -> None:
    decode = msgspec.json.Decoder(Row).decode

    def bare() -> None:
        with session.open("rb") as file:
            for line in file:
                decode(line)

    cold = times_as_long(lambda: FileCache(Transcript).get(session), bare)

    said(f"{session.stat().st_size / 1e6:.0f} MB: {cold:.2f} times a bare decode")
    # Results hang under their calls and responses lie in several rows, so most rows need
    # a look-up; Pi's entries need hardly any, and stay within 2.5 times.
    assert SMOKE or cold <= 3.5


def test_an_appended_row_makes_the_next_call_little_slower(session: Path) -> None:
    cache = FileCache(Transcript)
    branch = cache.get(session).projection.branch
    writer = Writer()
    writer.chance = random.Random(8)
    writer.parent = (cache.get(session).projection.facts(branch.seqs[-1]).entry_id or "")[:36]

    def append() -> None:
        with session.open("a", encoding="utf-8") as file:
            file.write(line_of(writer.row("user", message={"role": "user", "content": "more"})))
        cache.get(session)

    unchanged, appended = best(lambda: cache.get(session)), best(append)

    said(f"unchanged {unchanged * 1e3:.2f} ms, after an append {appended * 1e3:.2f} ms")
    assert len(cache.get(session).projection.branch.seqs) == len(branch.seqs) + ROUNDS
    assert SMOKE or appended <= unchanged + 0.010


@pytest.mark.skipif(not TELLS_MEMORY, reason="tells memory by /proc")
def test_memory_grows_by_a_quarter_of_the_file_at_most(session: Path) -> None:
    grown = memory_grown(
        session,
        "from hindnote.hosts.claude.sessions.projection import open_transcript",
        "open_transcript",
    )
    size = session.stat().st_size

    said(f"private memory grew by {grown / 1e6:.1f} MB for {size / 1e6:.0f} MB: {grown / size:.0%}")
    assert SMOKE or grown <= size / 4


def test_a_catalogue_costs_little_more_than_looking_at_the_files(tmp_path: Path) -> None:
    body = "".join(map(line_of, rows(60)))
    projects = tmp_path / "projects"
    for number in range(FILES):
        folder = projects / f"-p{number % 100}"
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / f"{number:08}.jsonl"
        file.write_text(body.replace(COMMON["sessionId"], f"{number:08}"), "utf-8")
    call = HostCall(host="claude", cwd=tmp_path, config_dir=tmp_path)

    def afresh() -> None:
        Catalogue().sessions(call)

    known = Catalogue()
    assert len(known.sessions(call)) == FILES
    cold = times_as_long(afresh, lambda: read_whole(projects))
    warm = times_as_long(lambda: known.sessions(call), lambda: walk(projects))

    said(f"cold {cold:.2f} times reading the files, warm {warm:.2f} times a walk")
    if not SMOKE:
        assert cold <= 5  # a name may be anywhere in a file; these files are small
        assert warm <= 2.5
