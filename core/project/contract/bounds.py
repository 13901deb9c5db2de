"""Numeric ceilings of what is delivered, and the string types that carry them.

Lengths of strings count UTF-16 code units, as JavaScript does; aggregates count
the UTF-8 bytes of compact JSON. A ceiling bounds a delivery, never what is read
or scanned for it.

A field's annotation says what may happen to it: an ``Identity`` is delivered
exactly or not at all, a ``Descriptive`` text may be clipped, a list with ``Rows``
may lose trailing items. Delivery reads these marks from the models.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field
from pydantic_core import PydanticCustomError, core_schema

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler

MAX_DTO_BYTES = 65_536
"""Compact JSON of one delivered DTO, UTF-8 bytes."""

MAX_TEXT_BYTES = 32_768
"""Direct content of one answer, UTF-8 bytes."""

MAX_DETAILS_BYTES = 65_536
"""Renderer details of one answer, compact JSON, UTF-8 bytes."""

MAX_PATH_CHARS = 4_096
MAX_NAME_CHARS = 256
"""Names of fields and providers."""

MAX_DESCRIPTION_CHARS = 240
"""Titles, descriptions, summaries and messages."""

MAX_RESULTS = 100
MAX_RELATED = 20
"""Related rows of one result."""

MAX_FACETS = 8
MAX_CONFIDENCE = 8
MAX_EVIDENCE = 8
MAX_FACET_VALUE_CHARS = 120
MAX_TAG_VALUES = 4
MAX_FACET_VALUES = 3
"""Values of a facet of another key than ``tags``."""

MAX_SNIPPET_CHARS = 1_000

MAX_DEFINITIONS = 100
MAX_OBSERVED = 100
MAX_ENUM_VALUES = 20
MAX_ENUM_CHARS = 240
MAX_SAMPLES = 3
MAX_SAMPLE_CHARS = 80
MAX_DISTINCT = 100
"""Distinct values of a field that are counted; the count stops there and says so."""

MAX_FOCUSED_FIELDS = 20
"""Fields that one describe call may name."""

PREVIEW_CHARS = 1_200
"""Characters of a body that are indexed; a bound on sources, not on a delivery."""

MAX_TODOS = 100
MAX_ISSUES = 100
MAX_REFERENCES = 8
"""Changed document references, and possible ones, each at most."""

MAX_RECEIPTS = 2
MAX_PHASE_CHARS = 64
MAX_ID_DIGITS = 15
"""So that every id is an exact number in JavaScript."""

HASH_PATTERN = r"^sha256:[0-9a-f]{64}$"


def utf16_length(text: str) -> int:
    """Return the length that JavaScript gives the text: its UTF-16 code units."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def clip_utf16(text: str, limit: int) -> str:
    """Return the longest prefix of at most ``limit`` code units, no surrogate pair cut."""
    if text.isascii():
        return text[:limit]
    if utf16_length(text) <= limit:
        return text
    clipped = text.encode("utf-16-le", "surrogatepass")[: limit * 2]
    if 0xD8 <= clipped[-1] <= 0xDB:
        clipped = clipped[:-2]
    return clipped.decode("utf-16-le", "surrogatepass")


@dataclass(frozen=True, slots=True)
class Bounded:
    """A string of at most ``limit`` UTF-16 code units."""

    limit: int

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        """Check the length after whatever the source type checks."""
        return core_schema.no_info_after_validator_function(self.check, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """State the ceiling. JSON Schema counts code points, which are never more."""
        return {**handler(schema), "maxLength": self.limit}

    def check(self, value: str) -> str:
        """Return the value when it is within the ceiling."""
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
    """Delivered exactly or not at all; checked before anything is clipped."""

    pattern: str | None = None
    minimum: int = 0

    def fault(self, value: str) -> str | None:
        """Return what is wrong with the value as an identity, or None."""
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
    """May be clipped at the ceiling; the clipping is disclosed."""


@dataclass(frozen=True, slots=True)
class Rows:
    """A list that is cut at ``limit`` and may lose more trailing items to fit.

    ``name`` is the collection under which completeness counts it. ``omit_unfit`` says
    what an item does that holds an identity which cannot be delivered: it is omitted and
    counted, and no longer makes the whole output a contract error. It is for what
    describes a document, whose names anybody may have chosen.
    """

    limit: int
    name: str
    omit_unfit: bool = False

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        """Check the number of items."""
        return core_schema.no_info_after_validator_function(self.check, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """State the ceiling."""
        return {**handler(schema), "maxItems": self.limit}

    def check(self, value: list[Any]) -> list[Any]:
        """Return the value when it is within the ceiling."""
        if len(value) > self.limit:
            raise PydanticCustomError(
                "too_many_rows",
                "{count} rows, at most {limit}",
                {"count": len(value), "limit": self.limit},
            )
        return value


PathText = Annotated[str, Field(min_length=1), Identity(MAX_PATH_CHARS, minimum=1)]
"""An exact path, relative to the workspace, segments parted by ``/``."""

NameText = Annotated[str, Identity(MAX_NAME_CHARS)]
"""The exact name of a field or a provider."""

HashText = Annotated[str, Field(pattern=HASH_PATTERN), Identity(71, HASH_PATTERN)]
"""``sha256:`` and 64 lower-case hexadecimal digits."""

EnumText = Annotated[str, Identity(MAX_ENUM_CHARS)]
RenderedId = Annotated[
    str, Field(pattern=r"^[0-9]{3,15}$"), Identity(MAX_ID_DIGITS, r"^[0-9]{3,15}$")
]
"""A todo's id as it stands in the file's name."""

IdNumber = Annotated[int, Field(ge=0, le=10**MAX_ID_DIGITS - 1)]
DescriptionText = Annotated[str, Descriptive(MAX_DESCRIPTION_CHARS)]
SnippetText = Annotated[str, Descriptive(MAX_SNIPPET_CHARS)]
FacetValueText = Annotated[str, Descriptive(MAX_FACET_VALUE_CHARS)]
SampleText = Annotated[str, Descriptive(MAX_SAMPLE_CHARS)]
Count = Annotated[int, Field(ge=0)]
