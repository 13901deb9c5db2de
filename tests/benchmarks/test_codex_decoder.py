"""What the decoder and catalogue of Codex cost, beside the least that could be done."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from yardstick import SMOKE, TELLS_MEMORY, best, memory_grown, read_ends, said, times_as_long

from hindnote import HostCall
from hindnote.core.history.index_cache import FileCache
from hindnote.hosts.codex.sessions.catalogue import Catalogue
from hindnote.hosts.codex.sessions.rollout import Rollout

CALLS = 200 if SMOKE else 21_000
FILES = 50 if SMOKE else 3_000
OUTPUT = 1_500
"""Characters of a command's output on the average; makes a file of 130 MB."""

THREAD = "01a23047-1aea-7082-9c17-f2be3c3a742c"
NAME = f"rollout-2026-12-01T06-24-56-{THREAD}.jsonl"
RECORDED = (
    Path(__file__).parents[1] / "data" / "codex" / "basic" / "sessions" / "2026" / "12" / "01"
)


class Payload(msgspec.Struct):
    type: str = ""
    id: str | None = None
    role: str = ""
    call_id: str | None = None
    name: str = ""


class Row(msgspec.Struct):
    """The spine of a row, the least that any index must read."""

    type: str
    timestamp: str
    payload: Payload


def recorded() -> list[dict[str, Any]]:
    """Return the rows of a recorded session, whose shape the made ones have."""
    (file,) = RECORDED.iterdir()
    return [json.loads(line) for line in file.read_bytes().splitlines()]


def rows(calls: int) -> Iterator[dict[str, Any]]:
    """Yield a session's rows: now and then a prompt, else a call and all that Codex tells of it."""
    chance = random.Random(7)
    words = " ".join("".join(chance.choices("abcdefghijklmnop", k=6)) for _ in range(50_000))
    known = recorded()
    head = known[0]
    head["payload"]["base_instructions"] = {"text": words[:20_000]}
    yield head
    start = next(at for at, row in enumerate(known) if row["payload"].get("role") == "user")
    prompt = next(row for row in known[start + 1 :] if row["payload"].get("role") == "user")
    first = next(
        at for at, row in enumerate(known) if row["payload"].get("type") == "function_call"
    )
    usual = known[first : first + 5]

    def text(size: int) -> str:
        place = chance.randrange(len(words) - size)
        return words[place : place + size].replace(" c", "\n")

    ordinal = 0
    for number in range(calls):
        call_id = f"call_{chance.getrandbits(96):024x}"
        output = text(100 + int(chance.expovariate(1 / OUTPUT)) % 20_000)
        for row in (prompt, *usual) if number % 20 == 0 else usual:
            ordinal += 1
            payload = dict(row["payload"])
            if "call_id" in payload:
                payload["call_id"] = call_id
            if "output" in payload:
                payload["output"] = payload["output"].partition("Output:")[0] + "Output:\n" + output
            if "item" in payload:
                payload["item"] = {**payload["item"], "id": call_id, "aggregated_output": output}
            if "content" in payload:
                payload["content"] = [{"type": "input_text", "text": text(300)}]
            moment = f"2026-12-01T{number // 3600 % 24:02}:{number // 60 % 60:02}:00.123Z"
            yield {**row, "ordinal": ordinal, "timestamp": moment, "payload": payload}


def write(file: Path, made: Iterator[dict[str, Any]]) -> Path:
    with file.open("w", encoding="utf-8") as out:
        for row in made:
            out.write(json.dumps(row, separators=(",", ":"), ensure_ascii=False) + "\n")
    return file


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("codex") / NAME, rows(CALLS))


def opened(file: Path) -> Rollout:
    return FileCache(Rollout).get(file)


def test_a_cold_index_costs_little_more_than_decoding_the_lines(session: Path) -> None:
    decode = msgspec.json.Decoder(Row).decode

    def bare() -> None:
        with session.open("rb") as file:
            for line in file:
                decode(line)

    assert opened(session).state.branch.kinds
    cold = times_as_long(lambda: opened(session), bare)

    said(f"{session.stat().st_size / 1e6:.0f} MB: {cold:.2f} times a bare decode")
    assert SMOKE or cold <= 2.6


def test_an_appended_row_makes_the_next_call_little_slower(session: Path) -> None:
    cache = FileCache(Rollout)
    cache.get(session)
    item = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "more"}]}
    row = {"timestamp": "2026-12-02T00:00:00.000Z", "type": "response_item", "payload": item}
    line = json.dumps(row).encode() + b"\n"

    def append() -> None:
        with session.open("ab") as file:
            file.write(line)
        cache.get(session)

    unchanged, appended = best(lambda: cache.get(session)), best(append)

    said(f"unchanged {unchanged * 1e3:.2f} ms, after an append {appended * 1e3:.2f} ms")
    assert SMOKE or appended <= unchanged + 0.010


@pytest.mark.skipif(not TELLS_MEMORY, reason="tells memory by /proc")
def test_memory_grows_by_a_quarter_of_the_file_at_most(session: Path) -> None:
    imports = "from hindnote.hosts.codex.sessions.projection import open_rollout"
    grown = memory_grown(session, imports, "open_rollout")
    size = session.stat().st_size

    said(f"private memory grew by {grown / 1e6:.1f} MB for {size / 1e6:.0f} MB: {grown / size:.0%}")
    assert SMOKE or grown <= size / 4


def test_a_fork_by_reference_costs_what_its_parent_does(session: Path, tmp_path: Path) -> None:
    """What it inherited is read where it lies, and read once."""
    thread = "01a23047-1aea-7082-9c17-000000000001"
    base = {"thread_id": THREAD, "end_byte_offset": session.stat().st_size}
    meta = {"id": thread, "session_id": thread, "forked_from_id": THREAD}
    payload = {**meta, "history_base": {**base, "end_ordinal_exclusive": 1 << 30}}
    row = {"timestamp": "2026-12-02T00:00:00.000Z", "type": "session_meta", "payload": payload}
    fork = write(session.with_name(NAME.replace(THREAD, thread)), iter([row]))

    assert opened(fork).state.branch.kinds == opened(session).state.branch.kinds
    ratio = times_as_long(lambda: opened(fork), lambda: opened(session))

    said(f"a fork takes {ratio:.2f} times as long as what it was forked from")
    assert SMOKE or ratio <= 1.2


def test_a_catalogue_costs_little_more_than_looking_at_the_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    days = tmp_path / "home" / "sessions" / "2026" / "12"
    body = "".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows(8))
    for number in range(FILES):
        thread = f"{THREAD[:-12]}{number:012}"
        folder = days / f"{number % 30 + 1:02}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / NAME.replace(THREAD, thread)).write_text(body.replace(THREAD, thread))
    call = HostCall(host="codex", cwd=tmp_path, config_dir=tmp_path / "home")

    def cold() -> None:
        for file in (tmp_path / "cache").rglob("*"):
            if file.is_file():
                file.unlink()
        assert len(Catalogue().sessions(call)) == FILES

    known = Catalogue()
    known.sessions(call)
    ratio = times_as_long(cold, lambda: read_ends(days))
    warm = times_as_long(lambda: known.sessions(call), lambda: read_ends(days))

    said(f"cold {ratio:.2f} and warm {warm:.2f} times reading the ends")
    if not SMOKE:
        assert ratio <= 7
        assert warm <= 1


def test_threads_in_several_files_cost_a_catalogue_what_their_files_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thread that was rolled back has its start and its origin in its first file."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    body = "".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows(1))

    def call(name: str, later: bool) -> HostCall:
        folder = tmp_path / name / "sessions" / "2026" / "12" / "01"
        folder.mkdir(parents=True)
        for number in range(FILES // 3):
            thread = f"{THREAD[:-12]}{number:012}"
            text = body.replace(THREAD, thread)
            for end in ("", f"_{THREAD[:-13]}9{number:012}")[: 1 + later]:
                (folder / NAME.replace(THREAD, f"{thread}{end}")).write_text(text)
        return HostCall(host="codex", cwd=tmp_path, config_dir=tmp_path / name)

    plain, rolled = call("plain", False), call("rolled", True)

    def cold(call: HostCall) -> None:
        for file in (tmp_path / "cache").rglob("*"):
            if file.is_file():
                file.unlink()
        assert len(Catalogue().sessions(call)) == FILES // 3

    ratio = times_as_long(lambda: cold(rolled), lambda: cold(plain))

    said(f"threads of two files take {ratio:.2f} times as long as those of one")
    if not SMOKE:
        assert ratio <= 5
