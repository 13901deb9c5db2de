"""Render the content blocks and the renderer details of an answer from the handler's facts.

Both have their own limits, so they remain valid when the DTO is a contract error.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hindnote.core.project.contract.bounds import MAX_DETAILS_BYTES, MAX_TEXT_BYTES
from hindnote.core.project.contract.marks import compact, json_size
from hindnote.core.project.outcome import Declined
from hindnote.core.text import clean
from hindnote.core.text.controls import escaped_line
from hindnote.core.text.messages import counted, one_line

SMALL_JSON_BYTES = 2_048
"""Facts up to this size are the first content block, as complete JSON."""

RECEIPT_BYTES = 8_192
"""Maximum size of the receipt block in UTF-8 bytes, without the note about left-out lines."""

NOTICE_BYTES = 80
"""UTF-8 bytes reserved in the receipt for the note about left-out lines."""


@dataclass(frozen=True, slots=True)
class View:
    """An answer as text: a summary line, and one line per row."""

    summary: str
    rows: Sequence[str] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    withheld: str = ""
    """What the rows lack of the facts, and how to get it; part of the receipt."""


def view_of_failure(declined: Declined) -> View:
    """Return the view of a failure, including all of its facts."""
    rows = [
        f"{name}: {declined.facts[name]}"
        for name in ("path", "expected", "actual")
        if name in declined.facts
    ]
    issues = declined.facts.get("issues", [])
    rows += [issue_line(issue) for issue in issues]
    return View(f"error: {declined.code}: {declined.message}", rows, {"issues": len(issues)})


def issue_line(issue: Mapping[str, Any]) -> str:
    """Return one issue as a line."""
    weight = "blocks changes" if issue["blocking"] else "note"
    return f"{issue.get('path', '(no name)')}: {issue['code']} ({weight}): {issue['message']}"


def blocks(view: View, facts: Mapping[str, Any] | None, dto: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the content blocks: the answer, then a receipt of omissions and effects.

    Args:
        view: The answer as text.
        facts: The handler's data; None for a failure, which is rendered as lines.
        dto: The output, from which the receipt is made.
    """
    if facts is not None and json_size(facts) <= SMALL_JSON_BYTES:
        return clean(compact(facts)), "\n".join(_within(receipt_lines(dto), RECEIPT_BYTES))
    lines = [_line(view.summary), *(_line(row) for row in view.rows)]
    missing = [view.withheld] if view.withheld else []
    receipt = _within(receipt_lines(dto, missing), RECEIPT_BYTES)
    # One byte is for the line break between the blocks.
    room = MAX_TEXT_BYTES - len("\n".join(receipt).encode()) - 1 - NOTICE_BYTES
    told = _within(lines, room)
    if len(told) < len(lines):
        cut = f"{len(lines) - len(told) + 1} of {len(lines)} lines left out"
        receipt = _within(receipt_lines(dto, [cut, *missing]), RECEIPT_BYTES + NOTICE_BYTES)
    return "\n".join(told), "\n".join(receipt)


def details(tool: str, view: View) -> dict[str, Any]:
    """Return the data for a host's renderer; too large rows are left out and counted."""
    summary = {"tool": tool, "summary": _line(view.summary), "counts": dict(view.counts)}
    whole = {**summary, "rows": [_line(row) for row in view.rows]}
    if json_size(whole) <= MAX_DETAILS_BYTES:
        return whole
    return {**summary, "rows_omitted": len(view.rows)}


def _line(text: str) -> str:
    # A row contains exact paths, so it is shown whole or left out, but never cut.
    return escaped_line(clean(text))


def _within(lines: Sequence[str], room: int) -> list[str]:
    """Return as many whole lines as fit, and a last line that reports how many were left out."""
    sizes = [len(line.encode()) + 1 for line in lines]
    if sum(sizes) <= room:
        return list(lines)
    notice = "[{} more {} left out to stay within the size of one answer]"
    room -= len(notice) + 12
    kept: list[str] = []
    for line, size in zip(lines, sizes, strict=True):
        if size > room:
            break
        kept.append(line)
        room -= size
    hidden = len(lines) - len(kept)
    return [*kept, notice.format(hidden, "line" if hidden == 1 else "lines")]


def receipt_lines(dto: Mapping[str, Any], missing: Sequence[str] = ()) -> list[str]:
    """Return what an output leaves out and what the call did.

    Args:
        dto: The output. The first line for a success tells whether it is complete.
        missing: What the text above lacks in addition.
    """
    lines = []
    if missing:
        lines.append(f"this text: {'; '.join(missing)}")
    if dto["ok"]:
        lines.append(_completeness_line(dto["completeness"], dto["effects"], bool(missing)))
    elif dto["error"]["code"].startswith("contract_"):
        error = dto["error"]
        lines.append(f"structured output failed: {error['code']}: {one_line(error['message'])}")
    return lines + _effect_lines(dto["effects"])


def _completeness_line(
    completeness: Mapping[str, Any], effects: Mapping[str, Any], otherwise: bool
) -> str:
    if completeness["complete"]:
        return "otherwise complete" if otherwise else "complete: nothing omitted, nothing clipped"
    told = [
        f"{name} {count['returned']} of {count['total']}"
        for name, count in completeness["collections"].items()
        if count["omitted"]
    ]
    told += [
        f"{item['text']} clipped {counted(item['count'], 'time', grouped=False)}"
        for item in completeness["clipped"]
    ]
    told += [
        f"{name} {effects[kind]['total'] - effects[kind]['omitted']} of {effects[kind]['total']}"
        for kind, name in _WITHHELD.items()
        if effects[kind]["omitted"]
    ]
    return "incomplete: " + "; ".join(told)


_WITHHELD = {
    "changed": "changed documents",
    "possible": "possibly changed documents",
    "recovery": "recovery receipts",
}
"""Names in the receipt for the parts of effects that may be left out."""


def _effect_lines(effects: Mapping[str, Any]) -> list[str]:
    line = f"effects: documents {effects['documents']}, cache {effects['cache']}"
    if effects["phase"] is not None:
        line += f", phase {effects['phase']}"
    if effects["rollback"] != "none":
        line += f", rollback {effects['rollback']}"
    lines = [line]
    for kind in ("changed", "possible"):
        references = effects[kind]
        lines += [f"{kind}: {_reference(item)}" for item in references["items"]]
        if references["omitted"]:
            lines.append(f"{kind}: {references['omitted']} more, withheld")
    recovery = effects["recovery"]
    if recovery["started"]:
        lines.append(
            f"recovery: {recovery['started']} started, {recovery['completed']} completed; "
            "no reason to repeat anything"
        )
    lines += [
        f"recovered: {receipt['source']['path']} to {receipt['target']['path']}: "
        f"{receipt['action']} {receipt['state']}"
        for receipt in recovery["receipts"]
    ]
    if recovery["omitted"]:
        lines.append(f"recovered: {recovery['omitted']} more, withheld")
    return lines


def _reference(item: Mapping[str, Any]) -> str:
    if "hash" not in item:
        return str(item["path"])
    return f"{item['path']} {'removed' if item['hash'] is None else item['hash']}"
