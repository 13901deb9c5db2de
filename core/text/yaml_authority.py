"""Parse YAML with ruamel.yaml, through a handler for python-frontmatter.

The block is composed into nodes but never constructed: no tag is executed, a scalar keeps its
source text, and an alias costs nothing until it is expanded into JSON, which is limited. Imported
only for blocks that ``frontmatter.scan`` cannot parse.
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
"""Maximum length of a block that is parsed, in characters; a longer one can take over a second."""

ALIAS_LIMIT = 4_096
"""Maximum number of characters that expanding aliases may add to a block."""

DEPTH_LIMIT = 64
"""Maximum nesting depth of a value that is returned."""

BRACKETS_LIMIT = 200
"""Maximum number of brackets open at once; the parser's cost grows with their square."""

REASON_LIMIT = 200
"""Maximum length of a reason, in characters."""

_BRACKET = re.compile(r"[\[\]{}]")
_TAG = "tag:yaml.org,2002:"
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,15}")
_FRACTION = re.compile(r"-?(?:0|[1-9][0-9]{0,14})\.[0-9]{0,15}[1-9]")
_SAFE_INTEGER = 2**53


class InvalidBlock(ValueError):
    """A block that cannot be parsed, or contains a key twice.

    Args:
        reason: What is wrong, as one line.
        line: 1-based line in the file; None when unknown.
    """

    def __init__(self, reason: str, line: int | None) -> None:
        # The reason may quote a name of any length, which must not crowd out the rest of a result.
        short = reason if len(reason) <= REASON_LIMIT else reason[: REASON_LIMIT - 1] + "…"
        super().__init__(short if line is None else f"line {line}: {short}")


class RepeatedKey(InvalidBlock):
    """A block that contains the same key twice."""


class NoMapping(InvalidBlock):
    """A block that is valid YAML but not a mapping, so it belongs to the body."""


class _TooLarge(Exception):
    """A value whose aliases expand too far, or that is nested too deeply."""


class NoteHandler(BaseHandler):
    """Frontmatter between fences that are alone on their lines, parsed as YAML 1.2.

    ``block`` is the block that was loaded last, with the positions of its keys for edits.
    """

    FM_BOUNDARY = re.compile(r"(?:\A\ufeff?|^)---[ \t]*(?:\r?\n|\Z)", re.MULTILINE)
    START_DELIMITER = END_DELIMITER = "---"

    def __init__(self) -> None:
        super().__init__()
        self.block: FrontmatterBlock | None = None

    def load(self, fm: str) -> dict[str, Any]:
        """Return the values of a block that is a mapping or empty.

        Raises:
            InvalidBlock: It cannot be parsed, or is not a mapping.
        """
        self.block = parse(fm)
        if self.block is None:
            raise NoMapping("the block is no mapping", None)
        return dict(self.block.values())


def parse(text: str) -> FrontmatterBlock | None:
    """Return a parsed block; None when it is valid YAML but not a mapping.

    Raises:
        InvalidBlock: It cannot be parsed, or contains a key twice.
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
            # ReaderError has a position instead of a mark, and its text mentions a stream.
            reason = f"the character U+{error.character:04X} is not allowed in YAML"
            raise InvalidBlock(reason, text.count("\n", 0, error.position) + 2) from None
        # The block starts on the file's second line; marks count from 0.
        line = None if mark is None else mark.line + 2
        raise InvalidBlock(_line_of(str(reason)), line) from None
    return composed


def _line_of(reason: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in reason).split())


def _brackets(text: str) -> int:
    """Return the maximum number of brackets open at once, counting brackets in strings too."""
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
    """Return the last scalar of a block collection, whose own end mark is after comments."""
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
        # The mark of an empty value is at the next token; the value belongs after the colon.
        colon = text.find(":", key.end_mark.index)
        return (colon + 1, colon + 1)
    return None if "\n" in text[key.start_mark.index : end] else (start, end)


def _text(node: ScalarNode) -> str:
    """Return a scalar's text, joining surrogate halves that were escaped separately.

    JSON writes such escapes, and some writers use JSON as YAML.
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
    """Return a node's source text, for values that JSON cannot represent."""
    return text[node.start_mark.index : node.end_mark.index].rstrip()


def _shown(node: Node, values: _Values) -> Json:
    try:
        return values.json(node, 0, aliased=False)
    except (_TooLarge, RecursionError):
        return OMITTED


class _Values:
    """Converts the nodes of one block to JSON and counts what aliases add.

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
                # For example ``{{title}}``, a mapping whose key is a mapping.
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
    """Return a scalar as JSON; its source text when JSON would print it differently."""
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
