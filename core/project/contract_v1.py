"""Contract v1: the closed outputs of the eight project tools, and their numeric ceilings.

An output is one of two envelopes, told apart by ``ok``: a success with ``data``,
``completeness`` and ``effects``, or a failure with ``error`` and ``effects``.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Annotated, Any

from pydantic import Field, TypeAdapter

from hindnote.core.project.contract.bounds import (
    HASH_PATTERN,
    MAX_CONFIDENCE,
    MAX_DEFINITIONS,
    MAX_DESCRIPTION_CHARS,
    MAX_DETAILS_BYTES,
    MAX_DISTINCT,
    MAX_DTO_BYTES,
    MAX_ENUM_CHARS,
    MAX_ENUM_VALUES,
    MAX_EVIDENCE,
    MAX_FACET_VALUE_CHARS,
    MAX_FACET_VALUES,
    MAX_FACETS,
    MAX_FOCUSED_FIELDS,
    MAX_ID_DIGITS,
    MAX_ISSUES,
    MAX_NAME_CHARS,
    MAX_OBSERVED,
    MAX_PATH_CHARS,
    MAX_PHASE_CHARS,
    MAX_RECEIPTS,
    MAX_REFERENCES,
    MAX_RELATED,
    MAX_RESULTS,
    MAX_SAMPLE_CHARS,
    MAX_SAMPLES,
    MAX_SNIPPET_CHARS,
    MAX_TAG_VALUES,
    MAX_TEXT_BYTES,
    MAX_TODOS,
    PREVIEW_CHARS,
    clip_utf16,
    utf16_length,
)
from hindnote.core.project.contract.documents import (
    CacheState,
    Confidence,
    Definition,
    DescribeData,
    DescribeSuccess,
    Evidence,
    Facet,
    FieldConfidence,
    FieldSamples,
    ObservedField,
    Provenance,
    Related,
    SearchData,
    SearchRow,
    SearchSuccess,
)
from hindnote.core.project.contract.envelope import (
    Closed,
    Counted,
    Effects,
    ErrorInfo,
    Failure,
    FailureCode,
    Issue,
    IssueCode,
    Receipt,
    Recovery,
    Reference,
    References,
    RootState,
    Success,
)
from hindnote.core.project.contract.todos import (
    AllocateData,
    AllocateSuccess,
    CreateData,
    CreateSuccess,
    InspectData,
    InspectSuccess,
    ScanData,
    ScanSuccess,
    Todo,
    TransitionData,
    TransitionSuccess,
)

__all__ = [
    "HASH_PATTERN",
    "MAX_CONFIDENCE",
    "MAX_DEFINITIONS",
    "MAX_DESCRIPTION_CHARS",
    "MAX_DETAILS_BYTES",
    "MAX_DISTINCT",
    "MAX_DTO_BYTES",
    "MAX_ENUM_CHARS",
    "MAX_ENUM_VALUES",
    "MAX_EVIDENCE",
    "MAX_FACETS",
    "MAX_FACET_VALUES",
    "MAX_FACET_VALUE_CHARS",
    "MAX_FOCUSED_FIELDS",
    "MAX_ID_DIGITS",
    "MAX_ISSUES",
    "MAX_NAME_CHARS",
    "MAX_OBSERVED",
    "MAX_PATH_CHARS",
    "MAX_PHASE_CHARS",
    "MAX_RECEIPTS",
    "MAX_REFERENCES",
    "MAX_RELATED",
    "MAX_RESULTS",
    "MAX_SAMPLES",
    "MAX_SAMPLE_CHARS",
    "MAX_SNIPPET_CHARS",
    "MAX_TAG_VALUES",
    "MAX_TEXT_BYTES",
    "MAX_TODOS",
    "PREVIEW_CHARS",
    "SUCCESSES",
    "AllocateData",
    "AllocateSuccess",
    "CacheState",
    "Closed",
    "Confidence",
    "Counted",
    "CreateData",
    "CreateSuccess",
    "Definition",
    "DescribeData",
    "DescribeSuccess",
    "Effects",
    "ErrorInfo",
    "Evidence",
    "Facet",
    "Failure",
    "FailureCode",
    "FieldConfidence",
    "FieldSamples",
    "InspectData",
    "InspectSuccess",
    "Issue",
    "IssueCode",
    "ObservedField",
    "Provenance",
    "Receipt",
    "Recovery",
    "Reference",
    "References",
    "Related",
    "RootState",
    "ScanData",
    "ScanSuccess",
    "SearchData",
    "SearchRow",
    "SearchSuccess",
    "Success",
    "Todo",
    "TransitionData",
    "TransitionSuccess",
    "clip_utf16",
    "output_adapter",
    "output_schema",
    "utf16_length",
]

SUCCESSES: Mapping[str, type[Success]] = MappingProxyType(
    {
        "project_artifact_search": SearchSuccess,
        "project_artifact_describe": DescribeSuccess,
        "project_todo_list": ScanSuccess,
        "project_todo_validate": ScanSuccess,
        "project_todo_inspect": InspectSuccess,
        "project_todo_allocate": AllocateSuccess,
        "project_todo_create": CreateSuccess,
        "project_todo_transition": TransitionSuccess,
    }
)
"""The success envelope of each tool, in the order in which the tools are declared."""


@cache
def output_adapter(tool: str) -> TypeAdapter[Any]:
    """Return the validator of a tool's outputs, success and failure."""
    success: Any = SUCCESSES[tool]
    union: Any = Annotated[success | Failure, Field(discriminator="ok")]
    return TypeAdapter(union)


def output_schema(tool: str) -> dict[str, Any]:
    """Return the closed JSON schema of a tool's outputs, as a host declares it."""
    from hindnote.core.tools.schema import schema_of

    success, failure = schema_of(SUCCESSES[tool]), schema_of(Failure)
    definitions = {**success.pop("$defs", {}), **failure.pop("$defs", {})}
    return {"type": "object", "anyOf": [success, failure], "$defs": definitions}
