"""One Markdown document as indexed: title, preview, fields and links."""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote

from msgspec import Struct

from hindnote.core.project.contract.bounds import PREVIEW_CHARS, clip_utf16
from hindnote.core.project.markdown import parse_markdown, shown

if TYPE_CHECKING:
    from hindnote.core.project.contract.documents import FieldType
    from hindnote.core.text.frontmatter import Json

_HEADING = re.compile(r"^#{1,6}[ \t]+(.+?)[ \t#]*$", re.MULTILINE)
_LINK = re.compile(r"\]\(\s*<?([^)\s<>]+\.(?:md|markdown))(?:#[^)\s<>]*)?>?[^)]*\)", re.IGNORECASE)
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[Tt ][0-9:.]+(?:Z|[+-][0-9:]+)?)?")
# Scripts written without spaces: each character is indexed as a word.
_UNSPACED = re.compile(
    "([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff])"
)


class Field(NamedTuple):
    """One value of a top-level frontmatter key; a list results in one for each item."""

    key: str
    value: str | None
    """Normalized for exact comparison; None if it cannot be compared."""

    shown: str | None
    """As it is written."""

    type: FieldType


class Document(Struct, frozen=True):
    """The indexed data of one document."""

    title: str
    preview: str
    covered: bool
    """Whether the preview is the whole body."""

    metadata: Mapping[str, Json]
    fields: tuple[Field, ...]
    links: tuple[str, ...]
    """Workspace-relative paths of documents that the preview links to."""


def read_document(path: str, text: str) -> Document:
    """Return the data to index for a file.

    Args:
        path: Workspace-relative path of the file.
        text: Its text.
    """
    markdown = parse_markdown(text)
    body = markdown.body.strip()
    preview = clip_utf16(body, PREVIEW_CHARS)
    return Document(
        title=_title(path, markdown.values, body),
        preview=preview,
        covered=len(preview) == len(body),
        metadata=markdown.values,
        fields=tuple(_fields(markdown.values)),
        links=tuple(dict.fromkeys(_links(path, preview))),
    )


def _title(path: str, values: Mapping[str, Json], body: str) -> str:
    title = values.get("title")
    if isinstance(title, str) and title.strip():
        return title.strip()
    heading = _HEADING.search(body)
    return heading[1] if heading else posixpath.basename(path).rpartition(".")[0]


def _links(path: str, preview: str) -> Iterator[str]:
    folder = path.rpartition("/")[0]
    for match in _LINK.finditer(preview):
        target = unquote(match[1])
        if "://" in target or target.startswith("/"):
            continue
        joined = posixpath.normpath(f"{folder}/{target}")
        if not joined.startswith("../") and joined != path:
            yield joined


def _fields(values: Mapping[str, Json]) -> Iterator[Field]:
    for key, value in values.items():
        if isinstance(value, list):
            if not value:
                yield Field(key, None, None, "list")
            for item in value:
                yield _field(key, item, "list")
        else:
            yield _field(key, value, type_of(value))


def _field(key: str, value: Json, kind: FieldType) -> Field:
    text = shown(value)
    return Field(key, None if text is None else _compared(text), text, kind)


def type_of(value: Json) -> FieldType:
    """Return the type of a frontmatter value."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        return "date" if value[4:5] == "-" and _DATE.fullmatch(value) else "text"
    return "list" if isinstance(value, list) else "mapping"


def normalized(value: Any) -> str | None:
    """Return the text by which a scalar is compared: trimmed, with case and normal form folded.

    Numbers, booleans and null are compared in their written form, so the filter ``2024`` also
    matches the text ``"2024"``.
    """
    text = shown(value)
    return None if text is None else _compared(text)


def _compared(text: str) -> str:
    if text.isascii():
        return text.strip().lower()
    return unicodedata.normalize("NFKC", text.strip()).casefold()


def spaced(text: str) -> str:
    """Return a text for the word index, with spaces around characters of unspaced scripts."""
    return text if text.isascii() else _UNSPACED.sub(r" \1 ", text)


def fold(word: str) -> str:
    """Return a word as the index compares it: without case and accents."""
    if word.isascii():
        return word.lower()
    parts = unicodedata.normalize("NFKD", word.casefold())
    return "".join(char for char in parts if not unicodedata.combining(char))
