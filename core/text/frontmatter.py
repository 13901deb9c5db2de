"""The frontmatter of a file: finding it, reading plain blocks fast, editing its lines.

A fence is ``---`` alone on the first line and alone on a later line. A block of
plain lines is read here by one regular expression; anything else goes to the
authority (``core.text.yaml_authority``), with which the scan must agree. A rewrite
edits the lines of the keys that it changes and leaves all other bytes alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TypeAlias

from msgspec import Struct

Json: TypeAlias = None | bool | int | float | str | list["Json"] | dict[str, "Json"]

OPENING = re.compile("(\ufeff?)---[ \t]*\r?\n")
CLOSING = re.compile(r"^---[ \t]*(?:\r?\n|\Z)", re.MULTILINE)

# Letters and digits of any script are plain to YAML; none of them breaks a line.
_LETTER = r"[^\W\d_]"
_PLAIN = r"[\w ./+,()'-]*"
_RESERVED = "(?![tTfFnN](?:rue|RUE|alse|ALSE|ull|ULL)(?![A-Za-z0-9_./+-]))"
_WORD = rf"{_RESERVED}{_LETTER}{_PLAIN}(?::(?=[\w/]){_PLAIN})*(?<![ ])"
_ITEM = rf"{_RESERVED}{_LETTER}[\w./+-]*"
_KEY = "[A-Za-z_][A-Za-z0-9_.-]*"
_COMMENT = r"\#[\w \t!-~]*"
_TIME = (
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
    r"(?:T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?(?:Z|[+-][0-9]{2}:[0-9]{2})?)?"
)
_VALUE = rf"""
    (?P<time>{_TIME})
  | (?P<int>0|[1-9][0-9]{{0,14}})
  | (?P<word>{_WORD})
  | "(?P<double>[\w !\#-\[\]-~]*)"
  | '(?P<single>[\w -&(-~]*)'
  | \[(?P<list>(?:{_ITEM}(?:,[ ]*{_ITEM})*)?)\]
"""
_LINE = rf"""
    (?:
        (?P<key>{_KEY}):(?:[ ]+(?:{_VALUE}))?(?:[ ]+{_COMMENT})?
      | [ ]*{_COMMENT}
    )?
    [ ]*\r?\n
"""
_KEYS = re.compile(rf"\n({_KEY}):")
_NO_KEYS = frozenset({"true", "True", "TRUE", "false", "False", "FALSE", "null", "Null", "NULL"})
_PLAIN_VALUE = r"[A-Za-z][A-Za-z0-9_.-]*|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.+-]+"


class Parts(Struct, frozen=True):
    """A file's text, cut where its frontmatter ends; the parts joined are the text."""

    opening: str
    """The first fence with its line end, a byte order mark before it included."""

    block: str
    closing: str
    body: str

    @property
    def newline(self) -> str:
        """The line end of the block."""
        return "\r\n" if self.opening.endswith("\r\n") else "\n"


class FrontmatterField(Struct, frozen=True):
    """One key at the top of a block, with offsets into the block."""

    key: str
    value: Json
    start: int
    """Where the line of its key starts."""

    end: int
    """Behind the line end of its value."""

    span: tuple[int, int] | None = None
    """The value, when it is a scalar on the line of its key."""


class FrontmatterBlock(Struct, frozen=True):
    """A block that is a mapping, or empty."""

    text: str
    entries: tuple[FrontmatterField, ...]
    editable: bool = True
    """False when keys cannot be edited line by line (a mapping in braces)."""

    indent: str = ""

    def values(self) -> dict[str, Json]:
        """Return the values by key, in order."""
        return {entry.key: entry.value for entry in self.entries}


# The two large expressions take milliseconds to compile, which many calls can spare.
@cache
def _line() -> re.Pattern[str]:
    """Return the expression of one plain line."""
    return re.compile(_LINE, re.VERBOSE)


@cache
def _live() -> re.Pattern[str]:
    """Return the expression of a whole plain block of a live note, for its time alone."""
    plain = re.sub("[?]P<[a-z]+>", "?:", _LINE)
    updated = rf"updatedAt:[ ]+(?P<updated>{_TIME})[ ]*\r?\n"
    other = rf"(?!updatedAt|archivedAt|crumpledAt){plain}"
    return re.compile(f"(?:{updated}|{other})*+", re.VERBOSE)


def fences(text: str) -> tuple[int, int, int] | None:
    """Return where the block starts, where it ends, and where the body starts.

    None when the text does not start with a fenced block.
    """
    if text.startswith("---\n"):
        # What nearly every note has; the expressions tell about all others.
        end = text.find("\n---", 3)
        if end < 0:
            return None
        if text.startswith("\n", end + 4):
            return 4, end + 1, end + 5
    elif not text.startswith(("---", "\ufeff---")):
        return None
    opening = OPENING.match(text)
    closing = opening and CLOSING.search(text, opening.end())
    return (opening.end(), closing.start(), closing.end()) if opening and closing else None


def divide(text: str) -> Parts | None:
    """Return the parts of a text that starts with a fenced block, or None."""
    found = fences(text)
    if found is None:
        return None
    start, end, body = found
    return Parts(text[:start], text[start:end], text[end:body], text[body:])


def opens(text: str) -> bool:
    """Return whether a text's first line is a fence."""
    return text.startswith(("---", "\ufeff---")) and OPENING.match(text) is not None


def scan(block: str) -> FrontmatterBlock | None:
    """Return a block of plain lines; None when only the authority can tell."""
    match = _line().match
    entries: dict[str, FrontmatterField] = {}
    position = 0
    while position < len(block):
        line = match(block, position)
        if line is None:
            return None
        key = line["key"]
        if key is not None:
            if key in entries or key in _NO_KEYS:
                return None
            kind = line.lastgroup or "key"
            value = _value(kind, line[kind])
            entries[key] = FrontmatterField(key, value, position, line.end(), _span(line, kind))
        position = line.end()
    return FrontmatterBlock(block, tuple(entries.values()))


def glance(block: str) -> str | None:
    """Return the recorded time of the last update of a live note, empty without one.

    None when the block is not made of plain lines, or the note is archived: then
    only parsing the note can tell.
    """
    found = _KEYS.findall("\n" + block)
    keys = set(found)
    if len(keys) < len(found) or not keys.isdisjoint(_NO_KEYS):
        return None
    lines = _live().fullmatch(block)
    return None if lines is None else lines["updated"] or ""


def _span(line: re.Match[str], kind: str) -> tuple[int, int] | None:
    start, end = line.span(kind)
    if kind == "key":
        return (end + 1, end + 1)
    if kind == "list":
        return None
    return (start - 1, end + 1) if kind in {"double", "single"} else (start, end)


def _value(kind: str, text: str) -> Json:
    if kind == "key":
        return None
    if kind == "int":
        return int(text)
    if kind == "list":
        return _items(text)
    return text


def _items(text: str) -> list[Json]:
    return [item.strip(" ") for item in text.split(",")] if text else []


def edited(block: FrontmatterBlock, changes: Mapping[str, str | None], newline: str) -> str:
    """Return the block's text with owned keys set or, for None, taken out.

    Args:
        block: An editable block.
        changes: New values by key; one that is there stays in its place, a new one
            is added at the end.
        newline: Line end of added lines.
    """
    text = block.text
    there = {entry.key: entry for entry in block.entries}
    for entry in reversed(block.entries):
        if entry.key in changes:
            text = _with_entry(text, entry, changes[entry.key], block.indent, newline)
    for key, value in changes.items():
        if key not in there and value is not None:
            text += f"{block.indent}{key}: {_scalar(value)}{newline}"
    return text


def _with_entry(
    text: str, entry: FrontmatterField, value: str | None, indent: str, newline: str
) -> str:
    if value is None:
        return text[: entry.start] + text[entry.end :]
    if entry.span is None:
        line = f"{indent}{entry.key}: {_scalar(value)}{newline}"
        return text[: entry.start] + line + text[entry.end :]
    start, end = entry.span
    blank = " " if start == end else ""
    return text[:start] + blank + _scalar(value) + text[end:]


def _scalar(value: str) -> str:
    # What the store writes are words, times and project keys; a key may start with a digit.
    return value if re.fullmatch(_PLAIN_VALUE, value) else f'"{value}"'


def merged(block: FrontmatterBlock, added: Sequence[tuple[str, str]], newline: str) -> str:
    """Return the block's text with whole entries put in by key.

    Args:
        block: An editable block.
        added: Keys and the source text of their entries, line ends included.
        newline: Line end that the block uses.
    """
    sources = {key: re.sub(r"\r?\n", newline, source) for key, source in added}
    text = block.text
    for entry in reversed(block.entries):
        source = sources.pop(entry.key, None)
        if source is not None:
            text = text[: entry.start] + source + text[entry.end :]
    return text + "".join(sources.values())
