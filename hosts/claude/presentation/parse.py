"""From a tool result of Claude Code to a presentation. Pure, and never raises.

The formats were read from sessions that Claude Code 2.1 recorded (2.1.332 and older ones).
``toolUseResult`` is the tool's own record of its run and is left out at times, so each rule
works from the text alone as well, as far as that goes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from hindnote.core.presentation.fields import mapping_of, number_of, text_of
from hindnote.core.presentation.models import (
    Bash,
    DiffRow,
    Edit,
    Fetch,
    Find,
    Grep,
    Mcp,
    Presentation,
    Read,
    Task,
    Text,
    Todo,
    Todos,
    Truncation,
    Write,
)
from hindnote.core.presentation.searches import search_of
from hindnote.hosts.claude.presentation.result import MCP, Result

_N = "[0-9]{1,12}"
_NUMBERED = re.compile(rf" *({_N})(?:\t|→)(.*)", re.DOTALL)
_REMINDER = re.compile(r"\n\n<system-reminder>\n.*</system-reminder>\n?\Z", re.DOTALL)
_EXIT = re.compile(rf"\A(?:Error: )?Exit code ({_N})(?:\n|\Z)")
_PERSISTED = re.compile(
    r"\A<persisted-output>\n[^\n]*\bFull output saved to: ([^\n]+)\n(?:\nPreview[^\n]*:\n)?"
)
_PREVIEW_END = re.compile(r"\n(?:\.\.\.\n)?</persisted-output>\Z")
_FOUND = re.compile(rf"\AFound {_N} files?(?: [^\n]*)?\n")
_TAIL = re.compile(r"\n\n?\[([^\n]*)\]\Z|\n\(Results are truncated[^\n]*\)\Z")


def present(
    block: Any, record: Any = None, tool: str | None = None, arguments: Any = None
) -> Presentation:
    """Return what a viewer gets of a result.

    Args:
        block: The ``tool_result`` block of the row, of any shape.
        record: The row's ``toolUseResult``, of any shape.
        tool: Name of the tool.
        arguments: Arguments of the call, when they are known.
    """
    result = Result(block, record, tool, arguments)
    rule = _mcp if (tool or "").startswith(MCP) else _RULES.get(tool or "")
    if rule is None:
        return result.plain(f"{tool or 'the tool'} has no structure of its own")
    if result.failed and rule not in (_bash, _mcp):
        return result.plain("the call failed")
    if not result.text and not result.images:
        return result.plain("the result is empty")
    shown = rule(result)
    # The promise that nothing is lost is kept here, whatever a rule made of the text.
    if not isinstance(shown, Text) and shown.joined() != result.text:
        return result.plain(f"what was read of {tool} does not give its text back")
    return shown


def _bash(result: Result) -> Presentation:
    text, exit_ = result.text, _EXIT.match(result.text)
    persisted = _PERSISTED.match(text)
    head = exit_ or persisted
    start = head.end() if head else 0
    ending = _PREVIEW_END.search(text, start) if persisted else None
    output = text[start : ending.start() if ending else len(text)]
    said_nothing = not (result.recorded("stdout") or result.recorded("stderr")) and bool(
        re.fullmatch(r"\((?:Bash completed with )?no (?:output|content)\)", output, re.IGNORECASE)
    )
    path = result.recorded("persistedOutputPath") or (persisted.group(1) if persisted else None)
    return Bash(
        command=result.argument("command"),
        head=text[:start],
        output="" if said_nothing else output,
        tail=output if said_nothing else text[ending.start() :] if ending else "",
        no_output=said_nothing,
        exit_code=int(exit_.group(1)) if exit_ and result.failed else None,
        aborted=result.record.get("interrupted") is True,
        truncation=Truncation() if path else None,
        full_output_path=path,
        is_beginning=persisted is not None,
        **result.common,
    )


def _read(result: Result) -> Presentation:
    file = mapping_of(result.record.get("file"))
    path = result.argument("file_path") or text_of(file.get("filePath"))
    if result.images and not result.text:
        return Read(path=path, content="", **result.common)
    reminder = _REMINDER.search(result.text)
    body = result.text[: reminder.start()] if reminder else result.text
    lines = [_NUMBERED.fullmatch(line) for line in body.split("\n")]
    numbers = [int(line.group(1)) for line in lines if line]
    if len(numbers) < len(lines) or numbers != [*range(numbers[0], numbers[0] + len(numbers))]:
        return result.plain("the lines are not numbered")
    content = "\n".join(line.group(2) for line in lines if line)
    total = number_of(file.get("totalLines"))
    last = numbers[-1]
    return Read(
        path=path,
        content=content,
        first_line=max(1, numbers[0]),
        total_lines=total if total and (total > last or numbers[0] > 1) else None,
        next_offset=last + 1 if total and last < total else None,
        printed=result.text,
        **result.common,
    )


def _edit(result: Result) -> Presentation:
    path = result.argument("file_path") or result.recorded("filePath")
    rows = _patch(result.record.get("structuredPatch"))
    if not rows:
        return result.plain("the edit recorded no patch")
    return Edit(
        sentence=result.text,
        path=path,
        rows=tuple(rows),
        gutter=max((len(str(row.line)) for row in rows if row.line is not None), default=0),
        first_changed_line=next((row.line for row in rows if row.marker in ("+", "-")), None),
        **result.common,
    )


def _patch(patch: Any) -> list[DiffRow]:
    """Return the rows of a ``structuredPatch``; none when it is not one."""
    rows: list[DiffRow] = []
    for hunk in patch if isinstance(patch, list) else ():
        if not isinstance(hunk, Mapping) or not isinstance(hunk.get("lines"), list):
            return []
        old, new = number_of(hunk.get("oldStart")), number_of(hunk.get("newStart"))
        if old is None or new is None:
            return []
        if rows:
            rows.append(DiffRow(marker="…", text="..."))
        for line in hunk["lines"]:
            told = text_of(line) or ""
            marker, text = told[:1], told[1:]
            if marker == "-":
                rows.append(DiffRow(marker="-", line=old, text=text))
                old += 1
            elif marker == "+":
                rows.append(DiffRow(marker="+", line=new, text=text))
                new += 1
            elif marker in (" ", ""):
                rows.append(DiffRow(marker=" ", line=new, text=text))
                old, new = old + 1, new + 1
            else:
                # "\ No newline at end of file"
                rows.append(DiffRow(marker=None, text=told))
    return rows


def _write(result: Result) -> Presentation:
    # A file that was overwritten has a patch, which says more than its new text.
    if result.record.get("type") == "update" and _patch(result.record.get("structuredPatch")):
        return _edit(result)
    path = result.argument("file_path") or result.recorded("filePath")
    return Write(sentence=result.text, path=path, **result.common)


def _noticed(text: str) -> tuple[str, str, tuple[str, ...]]:
    """Return what stands before the notice at a text's end, that end, and the notice."""
    found = _TAIL.search(text)
    if found is None:
        return text, "", ()
    return text[: found.start()], found.group(), (found.group().strip("\n[]()"),)


def _grep(result: Result) -> Presentation:
    text, arguments = result.text, result.arguments
    mode = result.recorded("mode") or result.argument("output_mode") or "files_with_matches"
    if text in ("No files found", "No matches found"):
        return Grep(no_matches=True, tail=text, **result.common)
    if mode == "files_with_matches":
        return _glob(result)
    body, tail, notices = _noticed(text)
    if mode == "count":
        return result.plain("counts have no structure of their own")
    context = arguments.get("-C") or arguments.get("context")
    around = {arguments.get("-A") or 0, arguments.get("-B") or 0} - {0}
    asked: dict[str, Any] = {
        name: arguments[name] for name in ("pattern", "path", "glob") if name in arguments
    }
    asked |= {"ignoreCase": arguments.get("-i") is True, "context": context or 0}
    # Different numbers of lines before and after a match are more than the reading knows of.
    known = asked if arguments and not around else None
    found = search_of(body, tail, notices, known, result.common)
    return found or result.plain("no printed line names a file and a line")


def _glob(result: Result) -> Presentation:
    if result.text == "No files found":
        return Find(no_matches=True, tail=result.text, **result.common)
    found = _FOUND.match(result.text)
    head = found.group() if found else ""
    body, tail, notices = _noticed(result.text[len(head) :])
    paths = tuple(body.split("\n"))
    return Find(head=head, paths=paths, notices=notices, tail=tail, **result.common)


def _task(result: Result) -> Presentation:
    return Task(
        text=result.text,
        description=result.argument("description") or result.recorded("description"),
        agent_type=result.argument("subagent_type"),
        agent_id=result.recorded("agentId"),
        prompt=result.argument("prompt") or result.recorded("prompt"),
        in_background=result.record.get("isAsync") is True,
        tool_calls=result.count("totalToolUseCount"),
        tokens=result.count("totalTokens"),
        milliseconds=result.count("totalDurationMs"),
        **result.common,
    )


def _fetch(result: Result) -> Presentation:
    return Fetch(
        text=result.text,
        url=result.argument("url") or result.recorded("url"),
        prompt=result.argument("prompt"),
        status=result.count("code"),
        size=result.count("bytes"),
        **result.common,
    )


def _todos(result: Result) -> Presentation:
    given = result.arguments.get("todos")
    if not isinstance(given, list):
        given = result.record.get("newTodos")
    listed = given if isinstance(given, list) else []
    items = tuple(_todo(item) for item in listed if isinstance(item, Mapping))
    if not items:
        return result.plain("the call lists no todos")
    return Todos(sentence=result.text, items=items, **result.common)


def _todo(item: Mapping[str, Any]) -> Todo:
    status = item.get("status")
    known = status in ("pending", "in_progress", "completed")
    return Todo(text=text_of(item.get("content")) or "", status=status if known else None)


def _mcp(result: Result) -> Presentation:
    server, _, name = (result.tool or "").removeprefix(MCP).partition("__")
    return Mcp(
        server=server, name=name, text=result.text, value=_data(result.text), **result.common
    )


def _data(text: str) -> Any:
    """Return a text's JSON object or array; None for any other text."""
    if not text.startswith(("{", "[")):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict | list) else None


_RULES: dict[str, Callable[[Result], Presentation]] = {
    "Agent": _task,
    "Bash": _bash,
    "Edit": _edit,
    "Glob": _glob,
    "Grep": _grep,
    "MultiEdit": _edit,
    "Read": _read,
    "Task": _task,
    "TodoWrite": _todos,
    "WebFetch": _fetch,
    "Write": _write,
}
