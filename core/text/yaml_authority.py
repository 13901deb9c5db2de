"""The one authority on YAML: ruamel.yaml's parser, behind a handler for python-frontmatter.

The block is composed into nodes and never constructed, so no tag is executed, a
scalar keeps its source text, and an alias costs nothing until it is written out
as JSON, which is bounded. Imported only for blocks that the scan leaves open.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from frontmatter.default_handlers import BaseHandler
from ruamel.yaml import YAML
from ruamel.yaml.nodes import CollectionNode, MappingNode, Node, ScalarNode
from ruamel.yaml.reader import ReaderError

from hindnote.core.text.frontmatter import FrontmatterBlock, FrontmatterField, Json

OMITTED = "[omitted: too large]"
BLOCK_LIMIT = 32_768
"""Characters of a block that is parsed; a longer one can take more than a second."""

ALIAS_LIMIT = 4_096
"""Characters that a block may gain by expanding aliases, at most."""

DEPTH_LIMIT = 64
"""Levels of a value that is shown."""

BRACKETS_LIMIT = 200
"""Brackets open at once in a block that is parsed, whose cost grows with their square."""

REASON_LIMIT = 200
"""Characters of a reason, at most."""

_BRACKET = re.compile(r"[\[\]{}]")
_TAG = "tag:yaml.org,2002:"
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,15}")
_FRACTION = re.compile(r"-?(?:0|[1-9][0-9]{0,14})\.[0-9]{0,15}[1-9]")
_SAFE_INTEGER = 2**53


class InvalidBlock(ValueError):
    """A block that cannot be parsed, or has a key twice.

    Args:
        reason: What is wrong, one line.
        line: 1-based line in the file, or None.
    """

    def __init__(self, reason: str, line: int | None) -> None:
        # It may quote a name of any length, and may not push the note out of a result.
        short = reason if len(reason) <= REASON_LIMIT else reason[: REASON_LIMIT - 1] + "…"
        super().__init__(short if line is None else f"line {line}: {short}")


class RepeatedKey(InvalidBlock):
    """A block that says two things under one key."""


class NoMapping(InvalidBlock):
    """A block that is valid YAML and no mapping: the text of a body."""


class _TooLarge(Exception):
    """A value whose aliases expand too far, or that is nested too deep."""


class NoteHandler(BaseHandler):
    """Frontmatter between fences that stand alone on their lines, read as YAML 1.2.

    ``block`` is what was loaded last, with the places of its keys for a rewrite.
    """

    FM_BOUNDARY = re.compile(r"(?:\A\ufeff?|^)---[ \t]*(?:\r?\n|\Z)", re.MULTILINE)
    START_DELIMITER = END_DELIMITER = "---"

    def __init__(self) -> None:
        super().__init__()
        self.block: FrontmatterBlock | None = None

    def load(self, fm: str) -> dict[str, Any]:
        """Return the values of a block that is a mapping or empty.

        Raises:
            InvalidBlock: It cannot be parsed, or is no mapping.
        """
        self.block = parse(fm)
        if self.block is None:
            raise NoMapping("the block is no mapping", None)
        return dict(self.block.values())


def parse(text: str) -> FrontmatterBlock | None:
    """Return a block; None when it is valid YAML but no mapping.

    Raises:
        InvalidBlock: It cannot be parsed, or has a key twice.
    """
    node = _compose(text)
    if node is None:
        return FrontmatterBlock(text, ())
    if not isinstance(node, MappingNode):
        return None
    try:
        entries = _entries(text, node)
    except RecursionError:
        raise InvalidBlock("the block is nested too deep", None) from None
    return FrontmatterBlock(
        text,
        entries,
        editable=not node.flow_style,
        indent=" " * node.start_mark.column,
    )


def _compose(text: str) -> Node | None:
    if len(text) > BLOCK_LIMIT:
        raise InvalidBlock(f"the block is longer than {BLOCK_LIMIT} characters", None)
    if _brackets(text) > BRACKETS_LIMIT:
        raise InvalidBlock("the block is nested too deep", None)
    try:
        composed: Node | None = YAML(typ="safe", pure=True).compose(text)
    except RecursionError:
        raise InvalidBlock("the block is nested too deep", None) from None
    except Exception as error:  # noqa: BLE001 -- it raises many kinds, plain ValueError among them
        mark = getattr(error, "problem_mark", None)
        reason = getattr(error, "problem", None) or str(error) or type(error).__name__
        if isinstance(error, ReaderError):
            # It has a position instead, and its text speaks of a stream.
            reason = f"the character U+{error.character:04X} is not allowed in YAML"
            raise InvalidBlock(reason, text.count("\n", 0, error.position) + 2) from None
        # The block starts on the file's second line; marks count from 0.
        line = None if mark is None else mark.line + 2
        raise InvalidBlock(_line_of(str(reason)), line) from None
    return composed


def _line_of(reason: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in reason).split())


def _brackets(text: str) -> int:
    """Return how many brackets are open at once, at most, those in strings included."""
    depth = deepest = 0
    for bracket in _BRACKET.findall(text):
        depth += 1 if bracket in "[{" else -1
        deepest = max(deepest, depth)
    return deepest


def _entries(text: str, node: MappingNode) -> tuple[FrontmatterField, ...]:
    entries: dict[str, FrontmatterField] = {}
    values = _Values(text)
    starts = [_line_start(text, key.start_mark.index) for key, _ in node.value]
    for index, (key_node, value_node) in enumerate(node.value):
        key = _key(key_node, text)
        if key in entries:
            raise RepeatedKey(f"the key {key!r} comes twice", key_node.start_mark.line + 2)
        own = value_node.start_mark.index >= key_node.end_mark.index
        empty = value_node.start_mark.index == value_node.end_mark.index
        last = key_node if empty or not own else _leaf(value_node)
        next_start = starts[index + 1] if index + 1 < len(starts) else len(text)
        entries[key] = FrontmatterField(
            key=key,
            value=_shown(value_node, values),
            start=starts[index],
            end=min(_line_end(text, last.end_mark.index), next_start),
            span=_scalar_span(text, key_node, value_node) if own else None,
        )
    return tuple(entries.values())


def _leaf(node: Node) -> Node:
    """Return the last scalar of a block collection, whose own mark lies behind comments."""
    while isinstance(node, CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        child = last[1] if isinstance(last, tuple) else last
        if child.start_mark.index < node.start_mark.index:
            break
        node = child
    return node


def _line_start(text: str, index: int) -> int:
    return text.rfind("\n", 0, index) + 1


def _line_end(text: str, index: int) -> int:
    if index > 0 and text[index - 1] == "\n":
        return index
    found = text.find("\n", index)
    return len(text) if found < 0 else found + 1


def _scalar_span(text: str, key: Node, value: Node) -> tuple[int, int] | None:
    if not isinstance(value, ScalarNode) or value.style in {"|", ">"} or value.anchor:
        return None
    start, end = value.start_mark.index, value.end_mark.index
    if start == end:
        # An empty value's mark lies where the next token is; its place is the colon.
        colon = text.find(":", key.end_mark.index)
        return (colon + 1, colon + 1)
    return None if "\n" in text[key.start_mark.index : end] else (start, end)


def _text(node: ScalarNode) -> str:
    """Return a scalar's text; two halves of a character that were escaped apart are joined.

    JSON writes such escapes, and JSON is YAML to those who wrote them.
    """
    text: str = node.value
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def _key(node: Node, text: str) -> str:
    return _text(node) if isinstance(node, ScalarNode) else _source(node, text)


def _source(node: Node, text: str) -> str:
    """Return a node as it is written; what JSON has no form for is shown so."""
    return text[node.start_mark.index : node.end_mark.index].rstrip()


def _shown(node: Node, values: _Values) -> Json:
    try:
        return values.json(node, 0, aliased=False)
    except (_TooLarge, RecursionError):
        return OMITTED


class _Values:
    """Writes the nodes of one block out as JSON and counts what aliases add.

    Args:
        text: The block.
    """

    def __init__(self, text: str) -> None:
        self._block = text
        self._seen: set[int] = set()
        self._added = 0

    def json(self, node: Node, depth: int, *, aliased: bool) -> Json:
        aliased = aliased or id(node) in self._seen
        self._seen.add(id(node))
        if aliased:
            self._added += 8 + (len(node.value) if isinstance(node, ScalarNode) else 0)
        if (aliased and self._added > ALIAS_LIMIT) or depth > DEPTH_LIMIT:
            raise _TooLarge
        if isinstance(node, ScalarNode):
            return _scalar(node)
        if isinstance(node, MappingNode):
            if not all(isinstance(key, ScalarNode) for key, _ in node.value):
                # Like ``{{title}}``, a mapping whose key is a mapping.
                return self._written(node, aliased=aliased)
            return self._mapping(node.value, depth, aliased=aliased)
        return [self.json(item, depth + 1, aliased=aliased) for item in node.value]

    def _written(self, node: Node, *, aliased: bool) -> str:
        source = _source(node, self._block)
        if aliased:
            self._added += len(source)
            if self._added > ALIAS_LIMIT:
                raise _TooLarge
        return source

    def _mapping(
        self, pairs: Iterable[tuple[ScalarNode, Node]], depth: int, *, aliased: bool
    ) -> dict[str, Json]:
        values: dict[str, Json] = {}
        for key_node, value_node in pairs:
            key = _text(key_node)
            if key in values:
                raise RepeatedKey(f"the key {key!r} comes twice", key_node.start_mark.line + 2)
            values[key] = self.json(value_node, depth + 1, aliased=aliased)
        return values


def _scalar(node: ScalarNode) -> Json:
    """Return a scalar as JSON; its source text where JSON would print something else."""
    text = _text(node)
    kind = str(node.tag).removeprefix(_TAG)
    if kind == "null" and text.lower() in {"", "~", "null"}:
        return None
    if kind == "bool" and text.lower() in {"true", "false"}:
        return text.lower() == "true"
    if kind == "int" and _INTEGER.fullmatch(text) and abs(int(text)) < _SAFE_INTEGER:
        return int(text)
    if kind == "float" and _FRACTION.fullmatch(text) and repr(float(text)) == text:
        return float(text)
    return text
