"""Numeric limits of outputs, and the string types that use them.

Lengths of strings count UTF-16 code units, as JavaScript does; sizes of whole outputs count the
UTF-8 bytes of compact JSON. A limit applies to what is returned, never to what is read or scanned
for it.

A field's annotation says how a limit is applied: an ``Identity`` is returned unchanged or not at
all, a ``Descriptive`` text may be clipped, and a list with ``Rows`` may lose items at its end.
``delivery`` reads these marks from the models.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import Field
from pydantic_core import PydanticCustomError, core_schema

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler

MAX_DTO_BYTES = 65_536
"""Maximum size of one output as compact JSON, in UTF-8 bytes."""

MAX_TEXT_BYTES = 32_768
"""Maximum size of the content blocks of one answer, in UTF-8 bytes."""

MAX_DETAILS_BYTES = 65_536
"""Maximum size of an answer's renderer details as compact JSON, in UTF-8 bytes."""

MAX_PATH_CHARS = 4_096
MAX_NAME_CHARS = 256
"""Maximum length of the names of fields and providers."""

MAX_DESCRIPTION_CHARS = 240
"""Maximum length of titles, descriptions, summaries and messages."""

MAX_RESULTS = 100
MAX_RELATED = 20
"""Maximum number of related rows of one result."""

MAX_FACETS = 8
MAX_CONFIDENCE = 8
MAX_EVIDENCE = 8
MAX_FACET_VALUE_CHARS = 120
MAX_TAG_VALUES = 4
MAX_FACET_VALUES = 3
"""Maximum number of values of a facet whose key is not ``tags``."""

MAX_SNIPPET_CHARS = 1_000

MAX_DEFINITIONS = 100
MAX_OBSERVED = 100
MAX_ENUM_VALUES = 20
MAX_ENUM_CHARS = 240
MAX_SAMPLES = 3
MAX_SAMPLE_CHARS = 80
MAX_DISTINCT = 100
"""Maximum number of distinct values of a field that are counted."""

MAX_FOCUSED_FIELDS = 20
"""Maximum number of fields that one describe call may name."""

PREVIEW_CHARS = 1_200
"""Number of characters of a body that are indexed; limits the source, not the output."""

MAX_TODOS = 100
MAX_ISSUES = 100
MAX_REFERENCES = 8
"""Maximum number of changed document references, and also of possible ones."""

MAX_RECEIPTS = 2
MAX_PHASE_CHARS = 64
MAX_ID_DIGITS = 15
"""So that every id is an exact number in JavaScript."""

HASH_PATTERN = r"^sha256:[0-9a-f]{64}$"


def utf16_length(text: str) -> int:
    """Return the length of the text in JavaScript: its UTF-16 code units."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def clip_utf16(text: str, limit: int) -> str:
    """Return the longest prefix of at most ``limit`` code units that splits no surrogate pair."""
    if text.isascii():
        return text[:limit]
    if utf16_length(text) <= limit:
        return text
    clipped = text.encode("utf-16-le", "surrogatepass")[: limit * 2]
    if 0xD8 <= clipped[-1] <= 0xDB:
        clipped = clipped[:-2]
    return clipped.decode("utf-16-le", "surrogatepass")


@dataclass(frozen=True, slots=True)
class _Limited:
    """An annotation that limits a field's length."""

    limit: int

    keyword: ClassVar[str]
    """The limit's name in a JSON Schema."""

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        """Check the length after the checks of the source type."""
        return core_schema.no_info_after_validator_function(self.check, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """Add the limit to the schema."""
        return {**handler(schema), self.keyword: self.limit}

    def check(self, value: Any) -> Any:
        """Return the value if it is within the limit."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Bounded(_Limited):
    """A string of at most ``limit`` UTF-16 code units.

    JSON Schema counts code points, of which there are never more.
    """

    keyword: ClassVar[str] = "maxLength"

    def check(self, value: str) -> str:
        """Return the value if it is within the limit."""
        length = utf16_length(value)
        if length > self.limit:
            raise PydanticCustomError(
                "utf16_too_long",
                "{length} UTF-16 code units, at most {limit}",
                {"length": length, "limit": self.limit},
            )
        return value


@dataclass(frozen=True, slots=True)
class Identity(Bounded):
    """Returned unchanged or not at all; checked before anything is clipped."""

    pattern: str | None = None
    minimum: int = 0

    def fault(self, value: str) -> str | None:
        """Return why the value is not a valid identity; None when it is."""
        length = utf16_length(value)
        if length > self.limit:
            return f"{length} UTF-16 code units, at most {self.limit}"
        if length < self.minimum:
            return "empty"
        if self.pattern is not None and re.fullmatch(self.pattern, value) is None:
            return "not in canonical form"
        try:
            value.encode()
        except UnicodeEncodeError:
            return "not representable in UTF-8"
        return None


@dataclass(frozen=True, slots=True)
class Descriptive(Bounded):
    """May be clipped at the limit; the clipping is reported."""


@dataclass(frozen=True, slots=True)
class Rows(_Limited):
    """A list that is cut at ``limit`` and may lose more items at its end.

    ``name`` is the name of the collection in the completeness counts. ``omit_unfit`` tells what
    happens to an item with an identity that cannot be returned: True omits and counts the item,
    False makes the whole output a contract error. True is for metadata of documents, whose names
    anybody may have chosen.
    """

    name: str
    omit_unfit: bool = False

    keyword: ClassVar[str] = "maxItems"

    def check(self, value: list[Any]) -> list[Any]:
        """Return the value if it is within the limit."""
        if len(value) > self.limit:
            raise PydanticCustomError(
                "too_many_rows",
                "{count} rows, at most {limit}",
                {"count": len(value), "limit": self.limit},
            )
        return value


PathText = Annotated[str, Field(min_length=1), Identity(MAX_PATH_CHARS, minimum=1)]
"""An exact path relative to the workspace, with ``/`` between segments."""

NameText = Annotated[str, Identity(MAX_NAME_CHARS)]
"""The exact name of a field or a provider."""

HashText = Annotated[str, Field(pattern=HASH_PATTERN), Identity(71, HASH_PATTERN)]
"""``sha256:`` and 64 lower-case hexadecimal digits."""

EnumText = Annotated[str, Identity(MAX_ENUM_CHARS)]
RenderedId = Annotated[
    str, Field(pattern=r"^[0-9]{3,15}$"), Identity(MAX_ID_DIGITS, r"^[0-9]{3,15}$")
]
"""A todo's id as in the file's name."""

IdNumber = Annotated[int, Field(ge=0, le=10**MAX_ID_DIGITS - 1)]
DescriptionText = Annotated[str, Descriptive(MAX_DESCRIPTION_CHARS)]
SnippetText = Annotated[str, Descriptive(MAX_SNIPPET_CHARS)]
FacetValueText = Annotated[str, Descriptive(MAX_FACET_VALUE_CHARS)]
SampleText = Annotated[str, Descriptive(MAX_SAMPLE_CHARS)]
Count = Annotated[int, Field(ge=0)]
