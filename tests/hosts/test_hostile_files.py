"""One bad file among sessions costs itself: names, kinds, sizes, and moments of a call."""

from __future__ import annotations

import contextlib
import json
import os
import random
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from hindnote import HostCall
from hindnote.core.call import Dispatcher
from hindnote.core.history.files import OpenFile
from hindnote.core.plugins.hosts import Hosts
from hindnote.hosts.claude import plugin as claude
from hindnote.hosts.codex import plugin as codex
from hindnote.hosts.pi import plugin as pi

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="names and kinds of Unix")

GOOD = 5
WORDS = "marmalade"

NAMES = (
    b"bad\xff\xfe.jsonl",
    b"2026-11-30T09-00-00-000Z_bad\xff.jsonl",
    b"agent-\xed\xb2\x80.jsonl",
    b"line\nbreak.jsonl",
    b"-leading.jsonl",
    b".jsonl",
    b"'quoted\" $(name).jsonl",
    "bidi\u202e\u2066.jsonl".encode(),
    b"x" * 240 + b".jsonl",
    b"00000001.jsonl.jsonl",
)
ROLLOUT = "rollout-2026-12-01T10-00-00-{}.jsonl"
CODEX_NAMES = tuple(
    ROLLOUT.format(f"{place:08d}-0000-7000-8000-000000000000{end}").encode()
    for place, end in ((3, "_00000009-0000-7000-8000-000000000000"), (90, ""), (91, ""))
)
CODEX_NAMES += (CODEX_NAMES[1] + b".zst", CODEX_NAMES[2] + b".zst")


def rows(host: str, name: str, *texts: str) -> bytes:
    found: list[dict[str, Any]] = []
    if host == "pi":
        found.append({"type": "session", "version": 3, "id": name, "cwd": "/w"})
    if host == "codex":
        found.append({"type": "session_meta", "payload": {"id": name, "cwd": "/w"}})
    for place, text in enumerate(texts):
        message = {"role": "user", "content": text}
        above = f"{name}-{place - 1}" if place else None
        if host == "codex":
            content = [{"type": "input_text", "text": text}]
            payload = {"type": "message", "role": "user", "content": content}
            found.append({"type": "response_item", "payload": payload})
            continue
        if host == "pi":
            row = {"type": "message", "id": f"{name}-{place}", "parentId": above}
        else:
            row = {"parentUuid": above, "type": "user", "uuid": f"{name}-{place}"}
            row |= {"sessionId": name, "cwd": "/w", "timestamp": "2026-11-30T09:00:00.000Z"}
        found.append({**row, "message": message})
    return b"".join(json.dumps(row).encode() + b"\n" for row in found)


def content(host: str, draw: random.Random) -> bytes:
    whole = rows(host, f"odd{draw.randrange(3)}", WORDS, "more")
    return draw.choice(
        (
            b"",
            b"\n" * 5_000,
            b"no session\n" * 300,
            whole,
            whole[: draw.randrange(len(whole))],
            b"\0" * 9_000 + whole,
            whole + b"\0" * 9_000,
            whole.replace(b"\n", b"\n" + b"\0" * 4_096),
            b'{"x":"' + b"y" * 300_000 + b'"}\n' + whole,
            b"[" * 100_000 + b"\n" + whole,
            whole.replace(b'"odd', b'"\xff\\ud800odd'),
            whole.replace(b'"id": "odd', b'"id": "", "was": "odd'),
            draw.randbytes(20_000),
        )
    )


def place(path: Path, host: str, draw: random.Random) -> None:
    """Put something at a path."""
    kind = draw.choice(("file", "file", "file", "sparse", "pipe", "folder", "link", "socket"))
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "link":
        path.symlink_to(draw.choice(("/dev/zero", "nowhere", path.name, "/", "/dev/full")))
    elif kind == "socket":
        # The name of a socket may have no more than a hundred bytes.
        short = path.with_name("s")
        with contextlib.chdir(path.parent), socket.socket(socket.AF_UNIX) as one:
            one.bind(short.name)
        short.replace(path)
    else:
        path.write_bytes(content(host, draw))
        if kind == "sparse":
            os.truncate(path, draw.choice((1 << 24, 10 << 30)))


def change(path: Path, host: str, draw: random.Random) -> None:
    """Do something to what lies at a path, as another program may at any moment."""
    what = draw.choice(("remove", "cut", "replace", "rewrite", "grow", "exchange"))
    if what == "replace" and not path.is_dir():
        new = path.with_name("new")
        new.write_bytes(content(host, draw))
        new.replace(path)
    elif what in ("remove", "exchange", "replace"):
        path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
        if what != "remove":
            place(path, host, draw)
    elif not path.is_file():
        return
    elif what == "cut":
        os.truncate(path, draw.randrange(200))
    elif what == "grow":
        with path.open("ab") as file:
            file.write(content(host, draw))
    else:
        with path.open("r+b") as file:
            file.write(draw.randbytes(min(path.stat().st_size, 4_000)))


@contextmanager
def moment(count: int, act: Callable[[], None]) -> Iterator[None]:
    """Act before the nth read of a session file."""
    reads = 0
    really = OpenFile.read

    def read(file: OpenFile, size: int, offset: int) -> bytes:
        nonlocal reads
        reads += 1
        if reads == count:
            act()
        return really(file, size, offset)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(OpenFile, "read", read)
        yield


def call(dispatcher: Dispatcher, host: str, folder: Path, **arguments: Any) -> dict[str, Any]:
    answer = dispatcher.call(HostCall(host=host, cwd=folder), "history_list", arguments)
    answer.text.encode()
    return json.loads(json.dumps(answer.result).encode())  # type: ignore[no-any-return]


Content = Callable[[str], bytes]

USUAL = {
    "pi": b"2026-11-30T09-00-00-000Z_odd.jsonl",
    "claude": b"aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee.jsonl",
    "codex": CODEX_NAMES[1],
}

# Its name unless it has the usual one, its content, and what the answer counts beside the rest.
COSTS: dict[str, tuple[bytes | None, Content, dict[str, int]]] = {
    "a name that is not UTF-8": (b"bad\xff.jsonl", lambda host: rows(host, "odd", WORDS), {}),
    "a first row of more than 8 KiB": (
        None,
        lambda host: rows(host, "odd", f"{WORDS} {'x' * 9_000}", "more"),
        {},
    ),
    "a record behind NUL bytes on its line": (
        None,
        lambda host: rows(host, "odd", WORDS, "more").replace(b"\n", b"\n" + b"\0" * 4_096, 1),
        {"damaged_lines": 1},
    ),
    "an empty id": (
        None,
        lambda host: rows(host, "odd", WORDS).replace(b'd": "odd"', b'd": ""'),
        {},
    ),
    "10 GB": (None, lambda host: rows(host, "odd", WORDS), {"sessions_skipped": 1}),
}


@pytest.fixture
def folder(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty folder in which the host that is tested keeps sessions."""
    for name in ("HOME", "XDG_CACHE_HOME", "PI_CODING_AGENT_DIR"):
        monkeypatch.setenv(name, str(tmp_path / "none"))
    monkeypatch.setenv("PI_CODING_AGENT_SESSION_DIR", str(tmp_path / "-w"))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path))
    pi_folder, claude_folder = tmp_path / "-w", tmp_path / "projects" / "-w"
    monkeypatch.setenv("CODEX_HOME", str(tmp_path))
    codex_folder = tmp_path / "sessions" / "2026" / "12" / "01"
    folders = {"pi": pi_folder, "claude": claude_folder, "codex": codex_folder}
    found = folders[request.getfixturevalue("host")]
    found.mkdir(parents=True)
    return found


def write_good(host: str, folder: Path) -> list[str]:
    """Write sessions that nothing is wrong with; return their ids."""
    end = "-0000-7000-8000-000000000000" if host == "codex" else ""
    good = [f"{place:08d}{end}" for place in range(GOOD)]
    named = ROLLOUT if host == "codex" else "{}.jsonl"
    for name in good:
        (folder / named.format(name)).write_bytes(rows(host, name, f"{WORDS} {name}"))
    return good


@pytest.mark.parametrize("what", COSTS)
@pytest.mark.parametrize("host", ["pi", "claude", "codex"])
def test_an_odd_file_costs_no_other_and_is_found_or_counted(
    tmp_path: Path, folder: Path, host: str, what: str
) -> None:
    good = write_good(host, folder)
    name_of_odd, content_of, counted = COSTS[what]
    odd = folder / os.fsdecode(name_of_odd or USUAL[host])
    odd.write_bytes(content_of(host))
    if what == "10 GB":
        os.truncate(odd, 10 << 30)
    dispatcher = Dispatcher(
        Hosts.of({"pi": pi, "claude": claude, "codex": codex}), tmp_path / "notes"
    )

    # So short a word rules no file out, so every session is decoded.
    found = call(dispatcher, host, folder, session="*", query=["ma"])

    expected = {f"{host}:{name}" for name in good}
    named = {row["session"] for row in found["items"]}
    assert expected <= named
    # Codex knows its sessions by the names of their files.
    known = host != "codex" or name_of_odd is None
    assert len(named - expected) == (known and "sessions_skipped" not in counted)
    assert found["sessions_covered"] == len(named)
    assert found["sessions_remaining"] == 0
    told = ("damaged_lines", "sessions_skipped", "note")
    assert {name: found[name] for name in told if name in found} == counted


@pytest.mark.campaign
@pytest.mark.parametrize("host", ["pi", "claude", "codex"])
def test_a_bad_file_costs_itself_whatever_it_is_and_becomes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, host: str, rounds: Callable[[int], int]
) -> None:
    for name in ("HOME", "XDG_CACHE_HOME", "PI_CODING_AGENT_DIR", "CLAUDE_CONFIG_DIR"):
        monkeypatch.setenv(name, str(tmp_path / "none"))
    dispatcher = Dispatcher(
        Hosts.of({"pi": pi, "claude": claude, "codex": codex}), tmp_path / "notes"
    )
    for number in range(rounds(400)):
        draw = random.Random(number)
        base = tmp_path / str(number)
        below = {"pi": "", "claude": "projects/-w", "codex": "sessions/2026/12/01"}
        folder = base / below[host]
        folder.mkdir(parents=True)
        monkeypatch.setenv("PI_CODING_AGENT_SESSION_DIR", str(base))
        monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(base))
        monkeypatch.setenv("CODEX_HOME", str(base))
        good = write_good(host, folder)
        names = (*NAMES, *CODEX_NAMES * 4) if host == "codex" else NAMES
        bad = folder / os.fsdecode(draw.choice(names))
        place(bad, host, draw)

        # So short a word rules no file out, so every session is decoded.
        query = draw.choice(([WORDS], ["ma"], None))
        arguments = {"session": "*"} if query is None else {"session": "*", "query": query}
        with moment(draw.randrange(1, 40), lambda: change(bad, host, draw)):  # noqa: B023
            found = call(dispatcher, host, folder, **arguments)

        listed = {row["session"] for row in found["items"]}
        assert {f"{host}:{name}" for name in good} <= listed, (number, found)
        assert "note" not in found, (number, found)
        assert found["sessions_remaining"] == 0, (number, found)
        for name in [*listed]:
            one = call(dispatcher, host, folder, session=name)
            assert "items" in one or one["code"] in ("unreadable_session", "unknown_session")
