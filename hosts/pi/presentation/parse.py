"""From a tool result as Pi recorded it to a presentation. Pure, and never raises."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from hindnote.core.presentation.fields import (
    content_of,
    image_of,
    mapping_of,
    number_of,
    text_of,
)
from hindnote.core.presentation.headings import inlined, uncolored
from hindnote.core.presentation.models import (
    Bash,
    DiffRow,
    Edit,
    Find,
    Grep,
    Image,
    Ls,
    LsEntry,
    Presentation,
    Read,
    Text,
    Truncation,
    Write,
)
from hindnote.core.presentation.patch import patch_rows
from hindnote.core.presentation.searches import search_of
from hindnote.hosts.pi.format.shell import SHELLS, ending

_END = 8192
"""Characters in which a notice or status at the end of a text lies, paths included."""

_N = "[0-9]{1,12}"
_TAIL = re.compile(r"\n\n\[([^\n]*)\]\Z")
_LIMIT = re.compile("limit|truncated", re.IGNORECASE)
_NOTICE_END = re.compile(r"(?<=[^.])\. (?=[A-Z0-9])")
_MORE = re.compile(
    rf"(?:\A|\n\n)\[(?:Showing lines ({_N})-({_N}) of ({_N})(?: \([^()\n]*limit\))?"
    rf"|({_N}) more lines in file)\. Use offset=({_N}) to continue\.\]\Z"
)
_LONG_LINE = re.compile(rf"\[Line {_N} is [^\n]*, exceeds [^\n]* limit\. [^\n]*\]")
_DIFF_ROW = re.compile(r"([ +-])( *[0-9]{1,12}) (.*)", re.DOTALL)
_DIFF_SKIP = re.compile(r" ( +) (\.\.\.)")


def _at_end(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    return pattern.search(text, max(0, len(text) - _END))


class _Result:
    """A tool result with what could be made of its fields."""

    def __init__(self, message: Mapping[str, Any], arguments: Mapping[str, Any] | None) -> None:
        self.tool = text_of(message.get("toolName"))
        failed = message.get("isError")
        self.failed = failed if isinstance(failed, bool) else None
        self.arguments = mapping_of(arguments)
        self.known = isinstance(arguments, Mapping)
        self.details = mapping_of(message.get("details"))
        self.text, self.images = content_of(message.get("content"), _image)
        self.common: dict[str, Any] = {
            "tool": self.tool,
            "failed": self.failed,
            "images": self.images,
        }

    def argument(self, name: str) -> str | None:
        """Return a text argument of the call."""
        return text_of(self.arguments.get(name))

    def plain(self, reason: str) -> Text:
        """Return the result as nothing but its text."""
        return Text(text=self.text, reason=reason, **self.common)


def present(message: Mapping[str, Any], arguments: Mapping[str, Any] | None = None) -> Presentation:
    """Return what a viewer gets of a result.

    Args:
        message: Pi's ``toolResult`` message, of any shape.
        arguments: Arguments of the call, when they are known.
    """
    result = _Result(message, arguments)
    rule = _RULES.get(result.tool or "")
    if rule is None:
        return result.plain(f"{result.tool or 'the tool'} has no structure of its own")
    if not result.text:
        return result.plain("the result is empty")
    if result.failed and result.tool not in SHELLS:
        return result.plain("the call failed")
    told = _as_pi_prints(result) if rule is _grep else None
    if told is not None:
        content = [{"type": "text", "text": told}]
        shown = present({**message, "content": content}, arguments)
        return shown.model_copy(update={"printed": result.text}) if shown.kind == "grep" else shown
    shown = rule(result)
    # The promise that nothing is lost is kept here, whatever a rule made of the text.
    if not isinstance(shown, Text) and shown.joined() != result.text:
        return result.plain(f"what was read of {result.tool} does not give its text back")
    return shown


def present_command(message: Mapping[str, Any]) -> Bash:
    """Return what a viewer gets of a command that the person ran (``bashExecution``)."""
    code = message.get("exitCode")
    failed = message.get("cancelled") is True or (isinstance(code, int) and code != 0)
    return Bash(
        tool="bash",
        failed=failed,
        command=text_of(message.get("command")),
        output=text_of(message.get("output")) or "",
        exit_code=code if isinstance(code, int) and not isinstance(code, bool) else None,
        aborted=message.get("cancelled") is True,
        truncation=Truncation() if message.get("truncated") is True else None,
        full_output_path=text_of(message.get("fullOutputPath")),
    )


def _image(block: Mapping[str, Any]) -> Image:
    return image_of(block.get("mimeType"), block.get("data"))


def _noticed(result: _Result) -> tuple[str, str, tuple[str, ...]]:
    """Return what stands before the bracketed notice at the end, that end, and its parts."""
    text = result.text
    match = _at_end(_TAIL, text)
    if match is None or not (result.details or _LIMIT.search(match.group(1))):
        return text, "", ()
    return text[: match.start()], match.group(), tuple(_NOTICE_END.split(match.group(1)))


def _as_pi_prints(result: _Result) -> str | None:
    """Return a search's text without colors and headings; None when it has neither."""
    body, tail, _ = _noticed(result)
    lines = inlined(uncolored(body).split("\n"))
    told = "\n".join(lines) + tail
    return None if told == result.text else told


def _grep(result: _Result) -> Presentation:
    if result.text == "No matches found":
        return Grep(no_matches=True, tail=result.text, **result.common)
    body, tail, notices = _noticed(result)
    found = search_of(
        body, tail, notices, result.arguments if result.known else None, result.common
    )
    return found or result.plain("no printed line names a file and a line")


def _find(result: _Result) -> Presentation:
    if result.text == "No files found matching pattern":
        return Find(no_matches=True, tail=result.text, **result.common)
    body, tail, notices = _noticed(result)
    return Find(paths=tuple(body.split("\n")), notices=notices, tail=tail, **result.common)


def _ls(result: _Result) -> Presentation:
    if result.text == "(empty directory)":
        return Ls(empty=True, tail=result.text, **result.common)
    body, tail, notices = _noticed(result)
    entries = tuple(
        LsEntry(name=line.removesuffix("/"), directory=line.endswith("/"))
        for line in body.split("\n")
    )
    return Ls(entries=entries, notices=notices, tail=tail, **result.common)


def _bash(result: _Result) -> Presentation:
    end = ending(result.text, result.failed, "truncation" in result.details)
    body, status, cut = end.body, end.status, end.cut
    notices = (cut.group().strip("\n[]"),) if cut else ()
    nothing = body == "(no output)"
    output = "" if nothing else body
    told, code, seconds, aborted = status.groups() if status else (None, None, None, None)
    return Bash(
        command=result.argument("command"),
        output=output,
        no_output=nothing,
        status=told,
        exit_code=int(code) if code else None,
        timed_out_after=float(seconds) if seconds else None,
        aborted=bool(aborted),
        truncation=_truncation(result.details, cut),
        full_output_path=text_of(result.details.get("fullOutputPath"))
        or (cut.group(5) if cut else None),
        notices=notices,
        tail=result.text[len(output) :],
        **result.common,
    )


def _truncation(details: Mapping[str, Any], cut: re.Match[str] | None) -> Truncation | None:
    """Return how much of a text is shown, from the details and from the notice in the text."""
    told = details.get("truncation")
    told = told if isinstance(told, Mapping) and told.get("truncated") is True else {}
    if not told and cut is None:
        return None
    by = told.get("truncatedBy")
    first, last, total = cut.group(1, 2, 3) if cut is not None else (None, None, None)
    partial = told.get("lastLinePartial") is True or told.get("firstLineExceedsLimit") is True
    return Truncation(
        by=by if by in ("lines", "bytes") else None,
        first_line=int(first) if first else None,
        last_line=int(last) if last else None,
        total_lines=int(total) if total else number_of(told.get("totalLines")),
        total_bytes=number_of(told.get("totalBytes")),
        shown_bytes=number_of(told.get("outputBytes")),
        partial_line=partial,
    )


def _read(result: _Result) -> Presentation:
    cut = _at_end(_MORE, result.text)
    # A file may end with such a notice itself; the tool's own tells the lines before it.
    if cut is not None and not _leads_on(result, cut):
        cut = None
    whole = _LONG_LINE.fullmatch(result.text) if "truncation" in result.details else None
    content = result.text
    notices: tuple[str, ...] = ()
    if whole is not None:
        content, notices = "", (result.text.strip("[]"),)
    elif cut is not None:
        content, notices = content[: cut.start()], (cut.group().strip("\n[]"),)
    first, total = number_of(result.arguments.get("offset")) or 1, None
    if cut is not None:
        following = int(cut.group(5))
        total = int(cut.group(3)) if cut.group(3) else following - 1 + int(cut.group(4))
        first = int(cut.group(1)) if cut.group(1) else following - _count(content)
    return Read(
        path=result.argument("path"),
        content=content,
        first_line=max(1, first),
        total_lines=total,
        next_offset=int(cut.group(5)) if cut else None,
        truncation=_truncation(result.details, cut if cut and cut.group(1) else None),
        notices=notices,
        tail=result.text[len(content) :],
        **result.common,
    )


def _count(content: str) -> int:
    return len(content.split("\n")) if content else 0


def _leads_on(result: _Result, cut: re.Match[str]) -> bool:
    """Return whether a notice about a file's rest is the tool's own."""
    first, last, _, more, following = cut.group(1, 2, 3, 4, 5)
    if first is not None:
        told = "truncation" in result.details or not result.known
        return told and int(following) == int(last) + 1
    begins = int(following) - _count(result.text[: cut.start()])
    if not result.known:
        return begins >= 1 and int(more) > 0
    limit = result.arguments.get("limit")
    return limit is not None and begins == max(1, number_of(result.arguments.get("offset")) or 1)


def _edit(result: _Result) -> Presentation:
    diff = text_of(result.details.get("diff"))
    if diff is None:
        return _patched(result)
    lines = diff.split("\n")
    gutter = max((len(m.group(2)) for m in map(_DIFF_ROW.fullmatch, lines) if m), default=0)
    edit = Edit(
        sentence=result.text,
        path=result.argument("path"),
        rows=tuple(_diff_row(line, gutter) for line in lines),
        gutter=gutter,
        first_changed_line=number_of(result.details.get("firstChangedLine")),
        patch=text_of(result.details.get("patch")),
        **result.common,
    )
    return edit if edit.diff() == diff else result.plain("the diff is in no known form")


def _patched(result: _Result) -> Presentation:
    """Return an edit of which only the patch was recorded."""
    patch = text_of(result.details.get("patch"))
    rows = None if patch is None else patch_rows(patch)
    if rows is None:
        return result.plain("the edit recorded no diff")
    changed = number_of(result.details.get("firstChangedLine"))
    if changed is None:
        changed = next((row.line for row in rows if row.marker in ("+", "-")), None)
    return Edit(
        sentence=result.text,
        path=result.argument("path"),
        rows=tuple(rows),
        gutter=max((len(str(row.line)) for row in rows if row.line is not None), default=0),
        first_changed_line=changed,
        patch=patch,
        **result.common,
    )


def _diff_row(line: str, gutter: int) -> DiffRow:
    if (match := _DIFF_SKIP.fullmatch(line)) and len(match.group(1)) == gutter:
        return DiffRow(marker="…", text=match.group(2))
    match = _DIFF_ROW.fullmatch(line)
    if match is None or len(match.group(2)) != gutter or match.group(2).strip().startswith("0"):
        return DiffRow(marker=None, text=line)
    marker, number, text = match.groups()
    # The pattern admits these three only.
    return DiffRow.model_validate({"marker": marker, "line": int(number), "text": text})


def _write(result: _Result) -> Presentation:
    return Write(sentence=result.text, path=result.argument("path"), **result.common)


_RULES: dict[str, Callable[[_Result], Presentation]] = {
    "bash": _bash,
    "powershell": _bash,
    "edit": _edit,
    "find": _find,
    "grep": _grep,
    "ls": _ls,
    "read": _read,
    "write": _write,
}
