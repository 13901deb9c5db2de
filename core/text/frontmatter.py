"""The frontmatter of a file: find it, parse simple blocks fast, edit its lines.

A fence is ``---`` alone on the first line and alone on a later line. A block that has only simple
lines is parsed here by a regular expression; any other block is parsed by
``core.text.yaml_authority``, and both must agree. An edit changes the lines of the keys concerned
and leaves all other bytes alone.
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

# YAML allows letters and digits of any script in a plain scalar; none of them is a line break.
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
    """A file's text, split around its frontmatter; the parts joined are the text again."""

    opening: str
    """The first fence with its line end, and a byte order mark before it if there is one."""

    block: str
    closing: str
    body: str

    @property
    def newline(self) -> str:
        """The line end that the block uses."""
        return "\r\n" if self.opening.endswith("\r\n") else "\n"


class FrontmatterField(Struct, frozen=True):
    """One top-level key of a block, with offsets into the block."""

    key: str
    value: Json
    start: int
    """Offset of the start of its key's line."""

    end: int
    """Offset after the line end of its value."""

    span: tuple[int, int] | None = None
    """Offsets of the value, when it is a scalar on its key's line."""


class FrontmatterBlock(Struct, frozen=True):
    """The parsed metadata block, a mapping that may be empty."""

    text: str
    entries: tuple[FrontmatterField, ...]
    editable: bool = True
    """False when keys cannot be edited line by line, as in a mapping in braces."""

    indent: str = ""

    def values(self) -> dict[str, Json]:
        """Return the values by key, in order."""
        return {entry.key: entry.value for entry in self.entries}


# Compiled on first use: the two large expressions take milliseconds, which many calls can save.
@cache
def _line() -> re.Pattern[str]:
    """Return the regex that matches one simple line."""
    return re.compile(_LINE, re.VERBOSE)


@cache
def _live() -> re.Pattern[str]:
    """Return the regex of a simple block of an unarchived note; it captures ``updatedAt``."""
    plain = re.sub("[?]P<[a-z]+>", "?:", _LINE)
    updated = rf"updatedAt:[ ]+(?P<updated>{_TIME})[ ]*\r?\n"
    other = rf"(?!updatedAt|archivedAt|crumpledAt){plain}"
    return re.compile(f"(?:{updated}|{other})*+", re.VERBOSE)


def fences(text: str) -> tuple[int, int, int] | None:
    """Return the offsets of the block's start, the block's end and the body's start.

    None when the text does not start with a fenced block.
    """
    if text.startswith("---\n"):
        # The usual form; other forms are left to the regular expressions.
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
    """Return the parts of a text that starts with a fenced block; None for any other text."""
    found = fences(text)
    if found is None:
        return None
    start, end, body = found
    return Parts(text[:start], text[start:end], text[end:body], text[body:])


def opens(text: str) -> bool:
    """Return whether a text's first line is a fence."""
    return text.startswith(("---", "\ufeff---")) and OPENING.match(text) is not None


def scan(block: str) -> FrontmatterBlock | None:
    """Return a block of simple lines, parsed; None when it needs the YAML parser."""
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
    """Return ``updatedAt`` of an unarchived note, empty when it is missing.

    None when the block has other than simple lines, or the note is archived: then the note must be
    parsed.
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
    """Return the block's text with keys set, or removed when the new value is None.

    Args:
        block: An editable block.
        changes: New values by key. An existing key keeps its place, a new one is added at the end.
        newline: Line end for added lines.
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
    # The store only writes words, times and project keys; a project key may start with a digit.
    return value if re.fullmatch(_PLAIN_VALUE, value) else f'"{value}"'


def merged(block: FrontmatterBlock, added: Sequence[tuple[str, str]], newline: str) -> str:
    """Return the block's text with whole entries replaced or added, by key.

    Args:
        block: An editable block.
        added: Keys and the source text of their entries, line ends included.
        newline: Line end of the block.
    """
    sources = {key: re.sub(r"\r?\n", newline, source) for key, source in added}
    text = block.text
    for entry in reversed(block.entries):
        source = sources.pop(entry.key, None)
        if source is not None:
            text = text[: entry.start] + source + text[entry.end :]
    return text + "".join(sources.values())
