"""Sessions that are large in one dimension of those that a file has, for each host."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

Rows = Iterator[dict[str, Any] | str]
"""Rows, and lines that are none."""

SESSION = "aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee"
TIME = "2026-11-30T09:00:00.000Z"


def encoded(rows: Rows) -> bytes:
    """Return the bytes of a file with these lines."""
    lines = (row if isinstance(row, str) else json.dumps(row) for row in rows)
    return "".join(f"{line}\n" for line in lines).encode()


# -- Pi ------------------------------------------------------------------------


def _entry(id_: str, parent: str | None, **message: Any) -> dict[str, Any]:
    row = {"type": "message", "id": id_, "parentId": parent, "timestamp": TIME}
    return {**row, "message": message}


def with_header(rows: Rows) -> Rows:
    """Return the rows of a session of Pi, behind its header."""
    yield {"type": "session", "version": 3, "id": "s1", "timestamp": TIME, "cwd": "/w"}
    yield from rows


def _pi_call(id_: str) -> dict[str, Any]:
    return {"type": "toolCall", "id": id_, "name": "bash", "arguments": {"command": id_}}


def _pi_result(id_: str, parent: str, call: str) -> dict[str, Any]:
    content = [{"type": "text", "text": f"output of {call}"}]
    return _entry(
        id_, parent, role="toolResult", toolCallId=call, toolName="bash", content=content,
        isError=False,
    )  # fmt: skip


def pi_rows(count: int) -> Rows:
    """So many prompts, one below the other."""
    for n in range(count):
        yield _entry(f"e{n}", f"e{n - 1}" if n else None, role="user", content=f"prompt {n}")


def pi_blocks(count: int) -> Rows:
    """One answer with so many text blocks."""
    blocks = [{"type": "text", "text": f"block {n}"} for n in range(count)]
    yield _entry("e0", None, role="assistant", content=blocks, stopReason="stop")


def pi_calls(count: int, *, same: bool = False) -> Rows:
    """One answer with so many calls, and the result of each."""
    calls = [_pi_call("c" if same else f"c{n}") for n in range(count)]
    yield _entry("a", None, role="assistant", content=calls, stopReason="toolUse")
    for n, call in enumerate(calls):
        yield _pi_result(f"r{n}", f"r{n - 1}" if n else "a", call["id"])


def pi_calls_of_one_id(count: int) -> Rows:
    """The same, where each call has the same id."""
    return pi_calls(count, same=True)


def pi_open_calls(count: int) -> Rows:
    """One answer with so many calls that were never run."""
    yield from list(pi_calls(count))[:1]
    yield _entry("end", "a", role="user", content="stop")


def pi_answers(count: int) -> Rows:
    """So many answers with one call each, and its result."""
    for n in range(count):
        above = f"r{n - 1}" if n else None
        yield _entry(f"a{n}", above, role="assistant", content=[_pi_call("c")], stopReason="stop")
        yield _pi_result(f"r{n}", f"a{n}", "c")


def pi_compactions(count: int) -> Rows:
    """So many compactions, a prompt before each."""
    for n in range(count):
        yield _entry(f"e{n}", f"k{n - 1}" if n else None, role="user", content=f"prompt {n}")
        yield {
            "type": "compaction", "id": f"k{n}", "parentId": f"e{n}", "timestamp": TIME,
            "summary": f"summary {n}", "firstKeptEntryId": f"e{n}", "tokensBefore": 10,
        }  # fmt: skip


def pi_branches(count: int) -> Rows:
    """So many prompts under one parent."""
    yield _entry("root", None, role="user", content="root")
    for n in range(count):
        yield _entry(f"e{n}", "root", role="user", content=f"prompt {n}")


def pi_turns_off(count: int) -> Rows:
    """So many times a prompt and one that was left for the next."""
    for n in range(count):
        above = f"e{n - 1}" if n else None
        yield _entry(f"x{n}", above, role="user", content=f"left {n}")
        yield _entry(f"e{n}", above, role="user", content=f"prompt {n}")


def pi_garbage(count: int) -> Rows:
    """So many lines that are none."""
    yield _entry("e0", None, role="user", content="prompt")
    yield from ["no line of a session"] * count


def pi_ids(count: int) -> Rows:
    """So many entries of one id."""
    for n in range(count):
        yield _entry("e", "e" if n else None, role="user", content=f"prompt {n}")


# -- Claude Code ---------------------------------------------------------------


def _row(type_: str, uuid: str, parent: str | None, **fields: Any) -> dict[str, Any]:
    row = {"parentUuid": parent, "isSidechain": False, "type": type_, "uuid": uuid}
    return {**row, "timestamp": TIME, "cwd": "/w", "sessionId": SESSION, **fields}


def _user(uuid: str, parent: str | None, content: Any, **fields: Any) -> dict[str, Any]:
    return _row("user", uuid, parent, message={"role": "user", "content": content}, **fields)


def _answer(uuid: str, parent: str | None, id_: str, *blocks: Any) -> dict[str, Any]:
    message = {"id": id_, "role": "assistant", "model": "opus", "content": list(blocks)}
    return _row("assistant", uuid, parent, message=message)


def _claude_call(id_: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": id_, "name": "Bash", "input": {"command": id_}}


def _claude_result(id_: str) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": id_, "content": f"output of {id_}"}


def claude_rows(count: int) -> Rows:
    """So many prompts, one below the other."""
    for n in range(count):
        yield _user(f"u{n}", f"u{n - 1}" if n else None, f"prompt {n}")


def claude_blocks(count: int) -> Rows:
    """One answer in one row, with so many text blocks."""
    yield _user("p", None, "prompt")
    yield _answer("a", "p", "m", *({"type": "text", "text": f"block {n}"} for n in range(count)))


def claude_user_blocks(count: int) -> Rows:
    """One prompt with so many text blocks."""
    yield _user("p", None, [{"type": "text", "text": f"block {n}"} for n in range(count)])


def claude_text_rows(count: int) -> Rows:
    """One answer in so many rows of one text block."""
    yield _user("p", None, "prompt")
    for n in range(count):
        above = f"a{n - 1}" if n else "p"
        yield _answer(f"a{n}", above, "m", {"type": "text", "text": f"block {n}"})


def claude_calls(count: int) -> Rows:
    """One row with so many calls, and one with all of their results."""
    yield _user("p", None, "prompt")
    yield _answer("a", "p", "m", *(_claude_call(f"c{n}") for n in range(count)))
    yield _user("r", "a", [_claude_result(f"c{n}") for n in range(count)])


def claude_call_rows(count: int) -> Rows:
    """One answer in so many rows of one call, and a row for each result."""
    yield _user("p", None, "prompt")
    for n in range(count):
        yield _answer(f"a{n}", f"a{n - 1}" if n else "p", "m", _claude_call(f"c{n}"))
    for n in range(count):
        yield _user(f"r{n}", f"a{n}", [_claude_result(f"c{n}")])


def claude_result_rows(count: int) -> Rows:
    """One row with so many calls, and a row for each result."""
    yield _user("p", None, "prompt")
    yield _answer("a", "p", "m", *(_claude_call(f"c{n}") for n in range(count)))
    for n in range(count):
        yield _user(f"r{n}", "a", [_claude_result(f"c{n}")], sourceToolAssistantUUID="a")


def claude_calls_of_one_id(count: int) -> Rows:
    """The same, where each call has the same id."""
    yield _user("p", None, "prompt")
    yield _answer("a", "p", "m", *(_claude_call("c") for _ in range(count)))
    for n in range(count):
        yield _user(f"r{n}", f"r{n - 1}" if n else "a", [_claude_result("c")])


def claude_answers(count: int) -> Rows:
    """So many answers with one call each, and its result."""
    for n in range(count):
        yield _answer(f"a{n}", f"r{n - 1}" if n else None, f"m{n}", _claude_call(f"c{n}"))
        yield _user(f"r{n}", f"a{n}", [_claude_result(f"c{n}")])


def _boundary(n: int, behind: str, **kept: Any) -> dict[str, Any]:
    about = {"trigger": "auto", **kept}
    return _row(
        "system", f"b{n}", None, subtype="compact_boundary", logicalParentUuid=behind,
        compactMetadata=about,
    )  # fmt: skip


def claude_boundaries(count: int) -> Rows:
    """So many compactions, a prompt before each."""
    yield _user("s-1", None, "first")
    for n in range(count):
        yield _user(f"u{n}", f"s{n - 1}", f"prompt {n}")
        yield _boundary(n, f"u{n}")
        yield _user(f"s{n}", f"b{n}", f"summary {n}", isCompactSummary=True)


def claude_preserved(count: int) -> Rows:
    """So many compactions, each of which keeps the prompt before it."""
    yield _user("s-1", None, "first")
    for n in range(count):
        yield _user(f"u{n}", f"s{n - 1}", f"prompt {n}")
        kept = {"anchorUuid": f"s{n}", "uuids": [f"u{n}"]}
        yield _boundary(n, f"u{n}", preservedMessages=kept)
        yield _user(f"s{n}", f"b{n}", f"summary {n}", isCompactSummary=True)


def claude_preserved_rows(count: int) -> Rows:
    """One compaction that keeps so many prompts."""
    yield from claude_rows(count)
    kept = {"anchorUuid": "s0", "uuids": [f"u{n}" for n in range(count)]}
    yield _boundary(0, f"u{count - 1}", preservedMessages=kept)
    yield _user("s0", "b0", "summary", isCompactSummary=True)
    yield _user("end", "s0", "prompt")


def claude_branches(count: int) -> Rows:
    """So many prompts under one parent."""
    yield _user("root", None, "root")
    for n in range(count):
        yield _user(f"u{n}", "root", f"prompt {n}")


def claude_notes(count: int) -> Rows:
    """So many notes in a chain, the first of which finds its parent late."""
    for n in range(count):
        yield _row("system", f"n{n}", f"n{n - 1}" if n else "p", subtype="turn_duration")
    yield _user("p", None, "prompt")
    yield _user("q", f"n{count - 1}", "prompt")


def claude_lost(count: int) -> Rows:
    """So many prompts whose parents are nowhere."""
    for n in range(count):
        yield _user(f"u{n}", f"lost{n}", f"prompt {n}")


def claude_garbage(count: int) -> Rows:
    """So many lines that are none."""
    yield _user("u", None, "prompt")
    yield from ["no line of a session"] * count


def claude_ids(count: int) -> Rows:
    """So many rows of one id."""
    yield _user("p", None, "prompt")
    for _ in range(count):
        yield _user("u", "p", "again")


def claude_queued(count: int) -> Rows:
    """So many prompts that were queued while an answer ran."""
    yield _user("p", None, "prompt")
    yield _answer("a", "p", "m", {"type": "text", "text": "answer"})
    for n in range(count):
        queue = {"type": "queue-operation", "timestamp": TIME, "sessionId": SESSION}
        yield {**queue, "operation": "enqueue", "content": f"queued {n}"}
        yield {**queue, "operation": "remove", "content": f"queued {n}"}
        attachment = {"type": "queued_command", "prompt": f"queued {n}", "commandMode": "prompt"}
        above = f"q{n - 1}" if n else "a"
        yield _row("attachment", f"q{n}", above, attachment=attachment)


# -- Codex ---------------------------------------------------------------------


def _item(type_: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": TIME, "type": "response_item", "payload": {"type": type_, **payload}}


def _codex_event(type_: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": TIME, "type": "event_msg", "payload": {"type": type_, **payload}}


def _said(*texts: str, role: str = "user", **more: Any) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    content = [{"type": kind, "text": text} for text in texts]
    return _item("message", role=role, content=content, **more)


def _codex_call(id_: str) -> dict[str, Any]:
    return _item("function_call", call_id=id_, name="exec_command", arguments=json.dumps(id_))


def _codex_output(id_: str) -> dict[str, Any]:
    return _item("function_call_output", call_id=id_, output=f"output of {id_}")


def with_meta(rows: Rows) -> Rows:
    """Return the rows of a rollout of Codex, behind its header."""
    head = {"id": SESSION, "session_id": SESSION, "cwd": "/w", "timestamp": TIME}
    yield {"timestamp": TIME, "type": "session_meta", "payload": head}
    yield from rows


def codex_rows(count: int) -> Rows:
    """So many prompts."""
    return (_said(f"prompt {n}") for n in range(count))


def codex_parts(count: int) -> Rows:
    """One answer with so many parts."""
    yield _said("prompt")
    yield _said(*(f"part {n}" for n in range(count)), role="assistant")


def codex_texts(count: int) -> Rows:
    """One answer in so many rows."""
    yield _said("prompt")
    yield from (_said(f"part {n}", role="assistant") for n in range(count))


def codex_calls(count: int, *, same: bool = False) -> Rows:
    """One answer with so many calls, and then the result of each."""
    ids = ["c" if same else f"c{n}" for n in range(count)]
    yield _said("prompt")
    yield from map(_codex_call, ids)
    yield from map(_codex_output, ids)


def codex_calls_of_one_id(count: int) -> Rows:
    """The same, where each call has the same id."""
    return codex_calls(count, same=True)


def codex_open_calls(count: int) -> Rows:
    """One answer with so many calls that were never run."""
    yield from list(codex_calls(count))[: count + 1]
    yield _said("stop")


def codex_answers(count: int) -> Rows:
    """So many answers with one call each, its result, and its outcome."""
    for n in range(count):
        yield _codex_call(f"c{n}")
        yield _codex_output(f"c{n}")
        item = {"type": "CommandExecution", "id": f"c{n}", "status": "failed"}
        yield _codex_event("item_completed", item=item)


def codex_compactions(count: int) -> Rows:
    """So many compactions, a prompt before each."""
    for n in range(count):
        yield _said(f"prompt {n}")
        yield {"timestamp": TIME, "type": "compacted", "payload": {"message": f"summary {n}"}}


def codex_rollbacks(count: int) -> Rows:
    """So many times a turn that stays, and one that is rolled back, with a call each."""
    for n in range(count):
        for turn in ("stays", "goes"):
            yield _said(f"{turn} {n}")
            yield _codex_call(f"{turn}{n}")
            yield _codex_output(f"{turn}{n}")
        yield _codex_event("thread_rolled_back", num_turns=1)


def codex_rollbacks_at_the_end(count: int) -> Rows:
    """So many turns, and as many rollbacks of one turn behind all of them."""
    yield from codex_answers(count)
    yield from codex_rows(count)
    yield from (_codex_event("thread_rolled_back", num_turns=1) for _ in range(count))


def codex_garbage(count: int) -> Rows:
    """So many lines that are none."""
    yield _said("prompt")
    yield from ["no line of a session"] * count


def codex_ids(count: int) -> Rows:
    """So many messages of one id."""
    return (_said(f"prompt {n}", id="m") for n in range(count))


HEADERS = {"pi": with_header, "codex": with_meta}
"""What puts a header before the rows of a host's sessions."""

SHAPES: dict[str, tuple[Callable[[int], Rows], int]] = {
    "pi_rows": (pi_rows, 20_000),
    "pi_blocks": (pi_blocks, 60_000),
    "pi_calls": (pi_calls, 4_000),
    "pi_calls_of_one_id": (pi_calls_of_one_id, 4_000),
    "pi_open_calls": (pi_open_calls, 4_000),
    "pi_answers": (pi_answers, 8_000),
    "pi_compactions": (pi_compactions, 8_000),
    "pi_branches": (pi_branches, 20_000),
    "pi_turns_off": (pi_turns_off, 8_000),
    "pi_garbage": (pi_garbage, 100_000),
    "pi_ids": (pi_ids, 20_000),
    "claude_rows": (claude_rows, 20_000),
    "claude_blocks": (claude_blocks, 20_000),
    "claude_user_blocks": (claude_user_blocks, 60_000),
    "claude_text_rows": (claude_text_rows, 8_000),
    "claude_calls": (claude_calls, 4_000),
    "claude_call_rows": (claude_call_rows, 8_000),
    "claude_result_rows": (claude_result_rows, 4_000),
    "claude_calls_of_one_id": (claude_calls_of_one_id, 4_000),
    "claude_answers": (claude_answers, 8_000),
    "claude_boundaries": (claude_boundaries, 2_000),
    "claude_preserved": (claude_preserved, 2_000),
    "claude_preserved_rows": (claude_preserved_rows, 8_000),
    "claude_branches": (claude_branches, 20_000),
    "claude_notes": (claude_notes, 24_000),
    "claude_lost": (claude_lost, 20_000),
    "claude_garbage": (claude_garbage, 100_000),
    "claude_ids": (claude_ids, 20_000),
    "claude_queued": (claude_queued, 8_000),
    "codex_rows": (codex_rows, 20_000),
    "codex_parts": (codex_parts, 60_000),
    "codex_texts": (codex_texts, 20_000),
    "codex_calls": (codex_calls, 8_000),
    "codex_calls_of_one_id": (codex_calls_of_one_id, 8_000),
    "codex_open_calls": (codex_open_calls, 8_000),
    "codex_answers": (codex_answers, 4_000),
    "codex_compactions": (codex_compactions, 8_000),
    "codex_rollbacks": (codex_rollbacks, 4_000),
    "codex_rollbacks_at_the_end": (codex_rollbacks_at_the_end, 4_000),
    "codex_garbage": (codex_garbage, 100_000),
    "codex_ids": (codex_ids, 20_000),
}
"""How to write a file of each shape, and how large the smaller one is."""
