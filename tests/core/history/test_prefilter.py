"""No hit may be lost: needles against documents of sessions that were decoded in full."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import unicodedata
from itertools import compress
from math import inf
from operator import ne
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from hindnote import SessionEntry
from hindnote.core.history import prefilter
from hindnote.core.history.lines import LineFile
from hindnote.core.history.prefilter import CHUNK, Needles
from hindnote.core.history.projection import Projection, Scannable
from hindnote.core.history.scan import Scan
from hindnote.core.history.sessions import Target
from hindnote.core.history.timeline import Timeline
from hindnote.core.text.matching import Matcher
from hindnote.hosts.claude.sessions import catalogue as claude
from hindnote.hosts.claude.sessions.projection import Transcript
from hindnote.hosts.pi.sessions import catalogue as pi
from hindnote.hosts.pi.sessions.projection import Sessions

DATA = Path(__file__).parents[2] / "data"
rg = shutil.which("rg")
PIECES = [
    "needle",
    "haystack",
    "rollback",
    "Kiſſ",
    "Kelvin",
    "İstanbul",
    "café",
    "café",
    "ǅ",
    "straße",
    "STRASSE",
    "回滚",
    "プロ",
    "각",
    "output:",
    "complete",
    "\t\n\x0b\x1b[0m",
    '"quoted"',
    "back\\slash",
    "\\u0041",
    "�",
    "👩",
    "1.50",
    "/a/b",
    "ẹ́",
    "ω",
    "Ω",
]
texts = st.lists(st.sampled_from(PIECES) | st.text(max_size=4), min_size=1, max_size=6).flatmap(
    lambda parts: st.sampled_from(["", " "]).map(lambda gap: gap.join(parts))
)


class Escaping:
    """Ways of writing the same JSON."""

    @staticmethod
    def plain(value: Any) -> str:
        return json.dumps(value, ensure_ascii=False)

    @staticmethod
    def ascii(value: Any) -> str:
        return json.dumps(value, separators=(",", ":"))

    @staticmethod
    def odd(value: Any) -> str:
        """Spell every other letter, and each short escape, as an escape."""
        made = json.dumps(value, ensure_ascii=False)
        made = re.sub(r"\\n", r"\\u000A", made)
        return re.sub(r"(?<![\\\w])([b-df-z])(?=[a-z]+ )", lambda m: f"\\u{ord(m[1]):04x}", made)


Rows = list[dict[str, Any]]


def pi_rows(texts: list[str]) -> Rows:
    a, b, c = texts
    call = {"type": "toolCall", "id": "t", "name": "bash", "arguments": {"q": b, c: 1.50}}
    image = {"type": "image", "mimeType": "image/png", "data": "AAAA"}
    content = [{"type": "text", "text": c}, image, {"type": "text", "text": a}]
    messages = [
        {"role": "user", "content": a},
        {"role": "assistant", "content": [{"type": "text", "text": b}, call]},
        {"role": "toolResult", "toolCallId": "t", "content": content, "isError": False},
        {"role": "bashExecution", "command": c, "output": b, "exitCode": 0},
    ]
    rows: Rows = [{"type": "session", "version": 3, "id": "s", "cwd": "/"}]
    for number, message in enumerate(messages):
        parent = str(number - 1) if number else None
        rows.append({"type": "message", "id": str(number), "parentId": parent, "message": message})
    return rows


def claude_rows(texts: list[str]) -> Rows:
    a, b, c = texts
    call = {"type": "tool_use", "id": "t", "name": "Bash", "input": {"q": b, c: 1.50}}
    media = {"type": "base64", "media_type": "image/png", "data": "AAAA"}
    output = [{"type": "text", "text": c}, {"type": "image", "source": media}]
    result = {"type": "tool_result", "tool_use_id": "t", "content": output}
    prompt = [{"type": "text", "text": b}, {"type": "document", "source": media}]
    read = {"content": [{"type": "text", "text": a}, {"type": "text", "text": b}]}
    answer = {"role": "assistant", "id": "m"}
    made: Rows = [
        {"type": "user", "message": {"role": "user", "content": a}},
        {"type": "assistant", "message": {**answer, "content": [{"type": "text", "text": b}]}},
        {
            "type": "assistant",
            "message": {**answer, "content": [{"type": "text", "text": c}, call]},
        },
        {"type": "user", "message": {"role": "user", "content": [result]}, "toolUseResult": {}},
        {"type": "attachment", "attachment": {"type": "queued_command", "prompt": prompt}},
        {"type": "attachment", "attachment": {"type": "file"}, "rendered": [read]},
        {"type": "user", "message": {"role": "user", "content": [{"type": "text", "text": c}]}},
    ]
    for number, row in enumerate(made):
        parent = str(number - 1) if number else None
        row.update(uuid=str(number), parentUuid=parent, sessionId="s")
    return made


def pi_session(file: Path) -> Projection | None:
    return Sessions().of_file(file, None)


def claude_session(file: Path) -> Projection | None:
    return Transcript(LineFile(file)).projection


PI = (pi_rows, pi_session, pi.ADDED_WORDS)
CLAUDE = (claude_rows, claude_session, claude.ADDED_WORDS)


def events(projection: Projection | None) -> list[tuple[str, list[bytes]]]:
    """Return each event's document, and the lines of which it is made."""
    assert projection is not None
    assert isinstance(projection, Scannable)
    timeline = Timeline(projection)
    return [
        (timeline.event(at).document, list(timeline.raw(at, projection)))
        for at in timeline.events(range(timeline.size))
    ]


def test_the_made_up_sessions_have_each_kind_of_event(tmp_path: Path) -> None:
    for make, open_, _ in (PI, CLAUDE):
        file = tmp_path / "s.jsonl"
        file.write_text("".join(Escaping.plain(row) + "\n" for row in make(["a", "b", "c"])))
        found = [document for document, _ in events(open_(file))]
        assert len(found) >= 4
        assert any("bytes]" in one and one.startswith("call: ") for one in found)


def needles(query: str | list[str], words: tuple[str, ...] = pi.ADDED_WORDS) -> Needles | None:
    matcher = Matcher.from_query(query)
    return None if matcher is None else Needles.of(matcher, words)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    written=st.lists(texts, min_size=3, max_size=3),
    host=st.sampled_from([PI, CLAUDE]),
    escaping=st.sampled_from([Escaping.plain, Escaping.ascii, Escaping.odd]),
    data=st.data(),
    form=st.sampled_from(["NFC", "NFD"]),
    case=st.sampled_from([str, str.upper, str.lower, str.title]),
)
def test_whatever_stands_in_a_document_is_never_ruled_out(
    written: list[str],
    host: Any,
    escaping: Any,
    data: st.DataObject,
    form: Any,
    case: Any,
    tmp_path: Path,
) -> None:
    make, open_, words = host
    file = tmp_path / "s.jsonl"
    rows = "".join(escaping(row) + "\n" for row in make(written))
    file.write_bytes(rows.encode("utf-8", "surrogatepass"))
    document, lines = data.draw(st.sampled_from(events(open_(file))))
    start = data.draw(st.integers(0, max(0, len(document) - 1)))
    end = data.draw(st.integers(start + 1, min(len(document), start + 24) or 1))
    literal = case(unicodedata.normalize(form, document[start:end]))
    matcher = Matcher.from_query(literal)
    assume(matcher is not None and matcher.first(document) is not None)

    found = needles(literal, words)

    if found is not None:
        assert found.may_hold(file)
        assert any(map(found.in_bytes, lines))


@pytest.mark.parametrize(
    ("host", "file"),
    [(PI, file) for file in sorted((DATA / "pi").glob("*.jsonl"))]
    + [(CLAUDE, file) for file in sorted((DATA / "claude").rglob("*.jsonl"))],
    ids=lambda value: value.stem if isinstance(value, Path) else "",
)
def test_no_word_of_a_recorded_event_is_ruled_out_by_its_lines(host: Any, file: Path) -> None:
    _, open_, words = host
    for document, lines in events(open_(file)):
        for word in sorted(set(re.findall(r"[^\W\d_]{3,}", document)))[:60]:
            found = needles(word, words)
            assert found is None or any(map(found.in_bytes, lines)), word


@pytest.mark.skipif(rg is None, reason="ripgrep is not installed")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    written=st.lists(texts, min_size=3, max_size=3),
    escaping=st.sampled_from([Escaping.plain, Escaping.ascii, Escaping.odd]),
    query=st.lists(st.sampled_from(PIECES), min_size=1, max_size=3),
)
def test_ripgrep_finds_at_least_what_the_scan_finds(
    written: list[str], escaping: Any, query: list[str], tmp_path: Path
) -> None:
    found = needles(query)
    assume(found is not None)
    assert found is not None
    file = tmp_path / "s.jsonl"
    rows = "".join(escaping(row) + "\n" for row in pi_rows(written))
    file.write_bytes(rows.encode("utf-8", "surrogatepass"))

    command = ["rg", "--no-config", "-a", "--encoding=none", "-l", "-e", found.pattern(), str(file)]
    done = subprocess.run(command, capture_output=True, check=False, timeout=30)

    assert done.returncode in (0, 1), done.stderr
    if found.may_hold(file):
        assert done.returncode == 0


@pytest.mark.parametrize(
    ("query", "data"),
    [
        ("needle", '"a NEEDLE b"'),
        ("needle", '"n\\u0065edle"'),
        ("anbob", '"a\\u000Abob"'),
        ("kisses", '"Kiſſes"'),
        ("kisses", '"\\u212Aisses"'),
        ("café", '"CAFE\u0301"'),
        ("回滚", '"后回滚"'),
        ("回滚", '"\\u56de\\u6eda"'),
        ("Ωμέγα", '"ωμεγα\u0301 ωμέγα"'),
        (["absent", "there"], '"there"'),
        # A string may hold a JSON text, which is spelled out as well.
        ("needle", '"the text \\\\u0065 of a source"'),
    ],
)
def test_bytes_that_may_hold_a_match_are_kept(query: str | list[str], data: str) -> None:
    found = needles(query)

    assert found is not None
    assert found.in_bytes(data.encode())


@pytest.mark.parametrize(
    ("query", "data"),
    [
        ("needle", '"haystack"'),
        ("needle", '"\\u001b[0m \\u0000"'),
        ("rollback", '"K \u212a ſ"'),
        ("回滚", '"部署失败"'),
        (["needle", "回滚"], '"neither"'),
    ],
)
def test_bytes_that_cannot_hold_a_match_are_ruled_out(query: str | list[str], data: str) -> None:
    found = needles(query)

    assert found is not None
    assert not found.in_bytes(data.encode())


@pytest.mark.parametrize("query", ["status", "put", "12345", "a-b", "…", ["needle", "ok"], "bytes"])
def test_a_query_that_added_words_could_match_rules_nothing_out(query: str | list[str]) -> None:
    assert needles(query) is None


def test_a_needle_across_two_chunks_is_found(tmp_path: Path) -> None:
    file = tmp_path / "s.jsonl"
    for gap in range(CHUNK - 8, CHUNK + 2):
        file.write_bytes(b" " * gap + b"needle" + b" " * 100)
        found = needles("needle")
        assert found is not None
        assert found.may_hold(file)


def test_a_file_that_cannot_be_read_is_not_ruled_out(tmp_path: Path) -> None:
    found = needles("needle")

    assert found is not None
    assert found.may_hold(tmp_path / "gone")


def test_no_code_point_with_another_case_lies_beyond_the_table() -> None:
    beyond = "".join(map(chr, range(prefilter._CASED_BELOW, 0x110000)))

    for cased in (str.lower, str.upper):
        assert list(compress(beyond, map(ne, map(cased, beyond), beyond))) == []


def targets(folder: Path, texts: list[str], words: tuple[str, ...] | None = ()) -> list[Target]:
    found = []
    for number, text in enumerate(texts):
        file = folder / f"{number} s\n.jsonl"
        file.write_text(f'"{text}"\n', "utf-8")
        entry = SessionEntry(host="pi", id=f"s{number}", file=file, added_words=words)
        found.append(Target(entry.canonical, entry))
    return found


@pytest.fixture(params=["ripgrep", "own", "another", "absent"])
def ripgrep(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    kind: str = request.param
    if kind == "ripgrep" and rg is None:
        pytest.skip("ripgrep is not installed")
    program = {"ripgrep": rg, "own": None, "another": shutil.which("cat"), "absent": "/no"}[kind]
    monkeypatch.setattr("hindnote.core.history.scan.on_path", lambda name: program)
    return kind


def test_a_scan_rules_out_sessions_without_the_needle(tmp_path: Path, ripgrep: str) -> None:
    texts = ["hay"] * 60
    texts[0] = texts[11] = texts[59] = "a Needle"
    found = targets(tmp_path, texts)
    scan = Scan.of(Matcher.from_query("needle"), found, None)
    assert scan is not None

    kept = [number for number, one in enumerate(found) if not scan.lacks(one, inf)]

    assert kept == [0, 11, 59]


def test_sessions_without_a_promise_and_the_running_one_are_never_ruled_out(
    tmp_path: Path, ripgrep: str
) -> None:
    plain = targets(tmp_path, ["hay"], words=None)
    running = targets(tmp_path, ["hay", "hay"])[1:]
    live = [Target("pi:live", None)]
    scan = Scan.of(Matcher.from_query("needle"), [*live, *plain, *running], "pi:s1")
    assert scan is not None

    assert not any(scan.lacks(one, inf) for one in (*live, *plain, *running))


def test_a_file_that_vanished_is_left_to_whoever_opens_it(tmp_path: Path, ripgrep: str) -> None:
    found = targets(tmp_path, ["hay", "hay"])
    assert found[0].entry is not None
    found[0].entry.file.unlink()
    scan = Scan.of(Matcher.from_query("needle"), found, None)
    assert scan is not None

    assert [scan.lacks(one, inf) for one in found] == [False, True]


@pytest.mark.parametrize("kind", ["pipe", "device", "folder"])
def test_ripgrep_is_given_no_file_that_it_could_not_finish(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    found = targets(tmp_path, ["hay"] * 20)
    assert found[7].entry is not None
    bad = found[7].entry.file
    bad.unlink()
    {
        "pipe": lambda: os.mkfifo(bad),
        "device": lambda: bad.symlink_to("/dev/zero"),
        "folder": bad.mkdir,
    }[kind]()
    given = tmp_path / "given"
    program = tmp_path / "rg"
    program.write_text(
        f'#!/bin/sh\n[ "$1" = --version ] && echo "ripgrep 14" && exit\n'
        f'printf "%s\\n" "$@" >> "{given}"\nexit 1\n'
    )
    program.chmod(0o755)
    monkeypatch.setattr("hindnote.core.history.scan.on_path", lambda name: str(program))
    scan = Scan.of(Matcher.from_query("needle"), found, None)
    assert scan is not None

    # Opening it tells what is wrong with it, without waiting.
    others = [scan.lacks(one, inf) for one in found if one is not found[7]]

    assert others == [True] * 19
    assert str(bad) not in given.read_text()
    assert str(found[8].entry and found[8].entry.file) in given.read_text()


def test_no_query_is_no_scan() -> None:
    assert Scan.of(None, [], None) is None
    assert Scan.of(Matcher.from_query("status"), [], None) is None


def test_both_hosts_name_the_words_that_they_add() -> None:
    for words in (pi.ADDED_WORDS, claude.ADDED_WORDS):
        assert all(word.isascii() and word.isalpha() and word.islower() for word in words)


@pytest.mark.parametrize("query", ["größe", "Übergröße", "资料", "ß"])
def test_a_letter_spelled_as_an_escape_in_a_json_text_within_a_string_is_a_possible_match(
    query: str,
) -> None:
    line = json.dumps({"arguments": json.dumps({"cmd": query})}, ensure_ascii=False).encode()

    found = needles(query)
    assert found is None or found.in_bytes(line)
