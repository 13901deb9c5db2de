"""Recorded sessions, damaged at random: none is lost, and what is listed is what is there."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from hindnote import HostCall, SessionEntry
from hindnote.core.errors import Refused
from hindnote.core.history.jsontext import Unreadable, parse
from hindnote.core.history.projection import Projection
from hindnote.core.history.timeline import Timeline
from hindnote.hosts.claude.sessions.catalogue import Catalogue as ClaudeCatalogue
from hindnote.hosts.claude.sessions.projection import open_transcript
from hindnote.hosts.codex.sessions.catalogue import Catalogue as CodexCatalogue
from hindnote.hosts.codex.sessions.projection import open_rollout
from hindnote.hosts.pi.sessions.catalogue import Catalogue as PiCatalogue
from hindnote.hosts.pi.sessions.catalogue import Places
from hindnote.hosts.pi.sessions.projection import Sessions

DATA = Path(__file__).parents[1] / "data"
FACTS = ("started", "cwd", "parent", "name")

CHAIN_TYPES = ("user", "assistant", "attachment", "system")
PI_SLOTS = {"user", "toolResult", "bashExecution", "custom", "hookMessage"}
PI_SLOTS |= {"branchSummary", "compactionSummary"}
CODEX_ITEMS = {"function_call", "custom_tool_call", "local_shell_call", "tool_search_call"}
CODEX_ITEMS |= {"web_search_call", "image_generation_call", "agent_message", "tool_search_output"}
CODEX_ITEMS |= {
    f"{name}_output" for name in ("function_call", "custom_tool_call", "local_shell_call")
}
PI_TYPES = {"branch_summary", "compaction", "custom_message"}


def recorded(host: str) -> list[Path]:
    files = sorted((DATA / host).rglob("*.jsonl"))
    others = ("tool-results", "session_index.jsonl")
    return [file for file in files if not {*others} & {*file.parts}]


# -- where a host would keep them ------------------------------------------------


def place(host: str, file: Path, folder: Path) -> Path:
    """Return where the host keeps a recording, under the name that it gives it."""
    if host == "codex":
        return folder / "sessions/2026/12/01" / file.name
    lines = map(json.loads, file.read_bytes().split(b"\n", 20)[:-1])
    first = next(row for row in lines if host == "pi" or "sessionId" in row)
    if host == "pi":
        return folder / f"2026-11-30T09-50-59-947Z_{first.get('id', file.stem)}.jsonl"
    session = first["sessionId"]
    below = f"{session}/subagents/{file.name}" if "subagents" in file.parts else f"{session}.jsonl"
    return folder / "projects/-w" / below


def listed(host: str, folder: Path) -> list[SessionEntry]:
    if host == "pi":
        return PiCatalogue().sessions(Places((folder,), ()))
    call = HostCall(host=host, cwd=folder, config_dir=folder)
    return (CodexCatalogue() if host == "codex" else ClaudeCatalogue()).sessions(call)


def opened(host: str, file: Path) -> Projection | None:
    if host == "codex":
        return open_rollout(file)
    return Sessions().of_file(file) if host == "pi" else open_transcript(file)


# -- mutations -------------------------------------------------------------------

Lines = list[bytes]
ODD: tuple[Any, ...] = (
    None,
    "",
    "x",
    7,
    1.5,
    True,
    [],
    {},
    ["a"],
    {"type": "text"},
    "\ud800",
    "S" * 300,
)


def _somewhere(lines: Lines, random: Random) -> int:
    # The first rows say most of a session.
    return random.randrange(min(len(lines), random.choice((2, 6, len(lines)))))


def drop(lines: Lines, random: Random) -> None:
    del lines[_somewhere(lines, random)]


def repeat(lines: Lines, random: Random) -> None:
    lines.insert(_somewhere(lines, random), random.choice(lines))


def swap(lines: Lines, random: Random) -> None:
    one, other = _somewhere(lines, random), _somewhere(lines, random)
    lines[one], lines[other] = lines[other], lines[one]


def tear(lines: Lines, random: Random) -> None:
    at = _somewhere(lines, random)
    lines[at] = lines[at][: random.randrange(len(lines[at]) + 1)]


def glue(lines: Lines, random: Random) -> None:
    at = _somewhere(lines, random)
    lines[at : at + 2] = [b"".join(lines[at : at + 2])]


def flip(lines: Lines, random: Random) -> None:
    at = _somewhere(lines, random)
    if lines[at]:
        data = bytearray(lines[at])
        data[random.randrange(len(data))] = random.choice(b'"{}[],:\\\x00\xff a1\r')
        lines[at] = bytes(data).replace(b"\n", b"")


def stuff(lines: Lines, random: Random) -> None:
    odd = (b"", b"\x00" * 5_000, b"[1]", b'"x"', b"{}", b'{"type":7}', b'{"type":"' + b"y" * 9_000)
    lines.insert(_somewhere(lines, random), random.choice(odd))


def change(lines: Lines, random: Random) -> None:
    """Give a field another value, or take it away."""
    at = _somewhere(lines, random)
    try:
        row = json.loads(lines[at])
    except ValueError:
        return
    inside = row
    while isinstance(inside, dict) and inside:
        key = random.choice(list(inside))
        if isinstance(inside[key], dict) and random.random() < 0.6:
            inside = inside[key]
            continue
        if random.random() < 0.3:
            del inside[key]
        else:
            inside[key] = random.choice(ODD)
        lines[at] = json.dumps(row, separators=random.choice(((",", ":"), (", ", ": ")))).encode()
        return


def grow(lines: Lines, random: Random) -> None:
    """Make a row longer than what is read at once."""
    at = _somewhere(lines, random)
    if lines[at].startswith(b"{"):
        filler = b'{"padding":"' + b"z" * random.choice((9_000, 70_000)) + b'",'
        lines[at] = filler + lines[at][1:] if lines[at] != b"{}" else filler[:-1] + b"}"


MUTATIONS = (drop, repeat, swap, tear, glue, flip, stuff, change, change, change, grow)


def mutated(data: bytes, random: Random) -> bytes:
    lines = data.split(b"\n")[:-1]
    # A shorter session has the same kinds of rows, and takes a fraction of the time.
    del lines[random.choice((3, 10, 25)) :]
    for _ in range(random.choice((1, 1, 2, 4))):
        if lines:
            random.choice(MUTATIONS)(lines, random)
    return b"\n".join(lines) + random.choice((b"\n", b"\n", b""))


# -- what has to be there --------------------------------------------------------


def rows(data: bytes) -> tuple[list[dict[str, Any]], int]:
    """Return the rows that can be read, and how many lines cannot; a torn end is neither."""
    found, damaged = [], 0
    *whole, last = data.split(b"\n")
    for line in (*whole, last):
        if not line or line.isspace():
            continue
        row = row_of(line)
        if row is not None:
            found.append(row)
        elif line is not last or row_of(line[line.rfind(b"\0") + 1 :]) is not None:
            # Behind zero bytes a last line can end whole, and what is before them is damaged.
            damaged += 1
    return found, damaged


def row_of(line: bytes) -> dict[str, Any] | None:
    try:
        row = parse(line)
    except Unreadable:
        return None
    return row if isinstance(row, dict) else None


def claude_slots(found: list[dict[str, Any]], session: Projection) -> int:
    """Return how many slots the rows take that are not counted as left out."""
    chain = [row for row in found if row.get("type") in CHAIN_TYPES]
    named = [row for row in chain if isinstance(row.get("uuid"), str) and row["uuid"]]
    main = [row for row in named if row.get("isSidechain") is not True]
    agent = "/" in session.header.session_id
    taken = named if agent or not main else main
    note = session.header.note or ""
    for left, reason in ((len(chain) - len(named), "uuid"), (len(named) - len(taken), "subagents")):
        word = "row of the file does" if left == 1 else "rows of the file do"
        assert (left > 0) == (reason in note), (left, note)
        assert not left or f"{left:,} {word} not" in note
    return sum(map(_blocks, taken))


def _blocks(row: dict[str, Any]) -> int:
    message = row.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    speaks = row["type"] in ("user", "assistant") and isinstance(content, list)
    return max(len(content), 1) if speaks and content else 1


def pi_slots(found: list[dict[str, Any]], session: Projection) -> int:
    return sum(map(_pi_slots, found))


def _pi_slots(row: dict[str, Any]) -> int:
    message = row.get("message")
    if row.get("type") != "message":
        return int(row.get("type") in PI_TYPES) if isinstance(row.get("type"), str) else 0
    role = message.get("role") if isinstance(message, dict) else None
    if role != "assistant":
        return int(isinstance(role, str) and role in PI_SLOTS)
    content = message["content"] if isinstance(message.get("content"), list) else []
    calls = [one for one in content if isinstance(one, dict) and one.get("type") == "toolCall"]
    return 1 + len(calls)


def codex_slots(found: list[dict[str, Any]], session: Projection) -> int:
    return sum(map(_codex_slots, found))


def _codex_slots(row: dict[str, Any]) -> int:
    payload = row.get("payload")
    payload = payload if isinstance(payload, dict) else {}
    if row.get("type") == "compacted":
        return 1
    if row.get("type") != "response_item" or not isinstance(payload.get("type"), str):
        return 0
    if payload["type"] == "message":
        return int(payload.get("role") in ("user", "assistant"))
    return int(payload["type"] in CODEX_ITEMS)


SLOTS = {"claude": claude_slots, "codex": codex_slots, "pi": pi_slots}


def check(host: str, folder: Path, file: Path, data: bytes) -> None:
    """Look at a session as a list does and as a reader does."""
    (entry,) = listed(host, folder)
    assert entry.file == file
    try:
        session = opened(host, file)
    except Refused as refused:
        assert refused.refusal.code == "unreadable_session"
        return
    assert session is not None
    header = session.header
    assert header.session_id == entry.id
    for fact in FACTS:
        assert getattr(header, fact) == getattr(entry, fact), fact
    found, damaged = rows(data)
    slots = SLOTS[host](found, session)
    # Of a damaged line the whole records are served, and what lies between is counted.
    assert (len(session.damaged) > 0) == (damaged > 0)
    assert session.last_seq >= slots if damaged else session.last_seq == slots
    timeline = Timeline(session)
    for position in timeline.events(range(timeline.size)):
        assert isinstance(timeline.event(position).document, str)


@pytest.mark.parametrize("host", ["claude", "codex", "pi"])
def test_every_recorded_session_is_listed_as_what_it_is(host: str, tmp_path: Path) -> None:
    for number, source in enumerate(recorded(host)):
        folder = tmp_path / str(number)
        file = place(host, source, folder)
        file.parent.mkdir(parents=True)
        shutil.copy(source, file)
        for beside in source.parent.glob(f"{source.stem}.meta.json"):
            shutil.copy(beside, file.parent)

        check(host, folder, file, source.read_bytes())


@pytest.mark.campaign
@pytest.mark.parametrize("host", ["claude", "codex", "pi"])
def test_no_damage_loses_a_session_or_a_row(
    host: str, tmp_path: Path, rounds: Callable[[int], int]
) -> None:
    # The default run takes a few seconds: a hundredth of the campaign.
    count = 50_000 if rounds(10) == 10 else 500
    seed = int(os.environ.get("HINDNOTE_MUTATIONS_SEED", "0")) or Random().randrange(1, 1 << 32)
    sources = [(source, source.read_bytes()) for source in recorded(host)]
    for number in range(count):
        random = Random(seed + number)
        source, data = random.choice(sources)
        folder = tmp_path / f"{number % 2}"
        file = place(host, source, folder)
        file.parent.mkdir(parents=True, exist_ok=True)
        changed = mutated(data, random)
        file.write_bytes(changed)
        try:
            check(host, folder, file, changed)
        except Exception as error:
            error.add_note(f"HINDNOTE_MUTATIONS_SEED={seed + number} of {source}")
            raise
        shutil.rmtree(folder)
