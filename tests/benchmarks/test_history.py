"""What a page of history costs, beside decoding the lines of its session."""

from __future__ import annotations

import gc
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from yardstick import SMOKE, Entry, best, said, times_as_long

from hindnote import HostCall
from hindnote.core.call import Dispatcher
from hindnote.core.plugins.hosts import Hosts
from hindnote.core.text.matching import Matcher
from hindnote.hosts.pi import plugin
from hindnote.hosts.pi.sessions.projection import Sessions

ENTRIES = 400 if SMOKE else 20_000


def entries(count: int, talk: int) -> Iterator[dict[str, Any]]:
    """Yield a session's entries, a user message every ``talk`` calls."""
    yield {"type": "session", "version": 3, "id": "s1", "timestamp": stamp(0), "cwd": "/w"}
    parent = None
    for number in range(count):
        entry_id = f"{number:08x}"
        step = number % (2 * talk + 1)
        message: dict[str, Any]
        if step == 0:
            message = {"role": "user", "content": f"question {number} " + "word " * 40}
        elif step % 2:
            call = {"type": "toolCall", "id": f"c{number}", "name": "bash", "arguments": {"n": 1}}
            content = [{"type": "text", "text": "Let me look. " * 10}, call]
            if talk > 100:
                content.pop(0)
            message = {"role": "assistant", "content": content, "stopReason": "toolUse"}
        else:
            text = [{"type": "text", "text": "line of output\n" * 60}]
            called = f"c{number - 1}"
            message = {"role": "toolResult", "toolCallId": called, "toolName": "bash"}
            message |= {"content": text, "isError": False}
        yield {
            "type": "message",
            "id": entry_id,
            "parentId": parent,
            "timestamp": stamp(number),
            "message": {**message, "timestamp": 1_796_000_000_000 + number},
        }
        parent = entry_id


def stamp(number: int) -> str:
    return f"2026-11-30T{number // 3600 % 24:02}:{number // 60 % 60:02}:{number % 60:02}.000Z"


def written(folder: Path, talk: int) -> Path:
    file = folder / f"s{talk}.jsonl"
    with file.open("w", encoding="utf-8") as out:
        for entry in entries(ENTRIES, talk):
            out.write(json.dumps(entry, separators=(",", ":")) + "\n")
    return file


@pytest.fixture(scope="module", params=[4, 10**6], ids=["talk", "one-run"])
def session(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("sessions"), request.param)


def test_the_first_page_costs_little_more_than_decoding_the_lines(
    session: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    decoder = msgspec.json.Decoder(Entry)
    data = session.read_bytes()
    dispatcher = Dispatcher(Hosts.of({"pi": plugin}), session.parent / "notes")
    call = HostCall(host="pi", cwd=session.parent, session_file=session)

    def forget() -> None:
        monkeypatch.setattr(plugin, "_sessions", Sessions())
        gc.collect()

    def page() -> None:
        assert not dispatcher.call(call, "history_list", {}).is_error

    page()
    decode = best(lambda: [decoder.decode(line) for line in data.splitlines()])
    cold = best(page, forget)
    page()
    warm = best(page)

    said(f"{session.stem}: decode {decode:.3f} s, first page {cold:.3f} s, again {warm:.4f} s")
    if not SMOKE:
        assert cold <= 1.5 * decode + 0.1
        assert warm <= 0.02


def test_a_page_costs_the_same_wherever_it_lies(session: Path) -> None:
    dispatcher = Dispatcher(Hosts.of({"pi": plugin}), session.parent / "notes")
    call = HostCall(host="pi", cwd=session.parent, session_file=session)
    last = dispatcher.call(call, "history_list", {"limit": 1}).result["items"][-1]
    end = last.get("last_seq", last.get("seq"))
    args = {"roles": ["tool"], "limit": 20}

    def page(before: int) -> Callable[[], object]:
        return lambda: dispatcher.call(call, "history_list", {**args, "before_seq": before})

    late, early = best(page(end)), best(page(max(2, end // 50)))

    said(f"{session.stem}: a late page {late:.4f} s, an early one {early:.4f} s")
    if not SMOKE:
        assert late <= 3 * early + 0.005


def test_matching_costs_little_more_than_a_plain_search() -> None:
    text = "the quick brown fox jumps over the lazy dog\n" * (100 if SMOKE else 200_000)
    matcher = Matcher.from_query("Needle")
    assert matcher is not None
    folded = re.compile("needle", re.IGNORECASE)

    ours = times_as_long(lambda: matcher.first(text), lambda: text.lower().find("needle"))
    wide = times_as_long(
        lambda: matcher.first(text + "é"),
        lambda: folded.search(text + "é"),
    )

    said(f"ASCII: {ours:.2f} times a plain search; other: {wide:.2f} times re")
    if not SMOKE:
        assert ours <= 1.5
        assert wide <= 1.5
