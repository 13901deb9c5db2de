"""The Pi coding agent as a host.

Programs that process the output of the project tools on Pi import their models and limits from
here; they are described in ``hindnote.core.project.contract``.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_MODULES = {
    "hindnote.core.project.contract.bounds": """
        HASH_PATTERN MAX_CONFIDENCE MAX_DEFINITIONS MAX_DESCRIPTION_CHARS
        MAX_DETAILS_BYTES MAX_DISTINCT MAX_DTO_BYTES MAX_ENUM_CHARS MAX_ENUM_VALUES
        MAX_EVIDENCE MAX_FACETS MAX_FACET_VALUES MAX_FACET_VALUE_CHARS
        MAX_FOCUSED_FIELDS MAX_ID_DIGITS MAX_ISSUES MAX_NAME_CHARS MAX_OBSERVED
        MAX_PATH_CHARS MAX_PHASE_CHARS MAX_RECEIPTS MAX_REFERENCES MAX_RELATED
        MAX_RESULTS MAX_SAMPLES MAX_SAMPLE_CHARS MAX_SNIPPET_CHARS MAX_TAG_VALUES
        MAX_TEXT_BYTES MAX_TODOS PREVIEW_CHARS clip_utf16 utf16_length
    """,
    "hindnote.core.project.contract.envelope": """
        Closed Counted Effects ErrorInfo Failure FailureCode Issue IssueCode Receipt
        Recovery Reference References RootState Success
    """,
    "hindnote.core.project.contract.documents": """
        CacheState Confidence Definition DescribeData DescribeSuccess Evidence Facet
        FieldConfidence FieldSamples ObservedField Provenance Related SearchData
        SearchRow SearchSuccess
    """,
    "hindnote.core.project.contract.todos": """
        AllocateData AllocateSuccess CreateData CreateSuccess InspectData InspectSuccess
        ScanData ScanSuccess Todo TransitionData TransitionSuccess
    """,
    "hindnote.core.project.tools": "output_adapter output_schema",
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names.split()}

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    """Import a public name on first use.

    Submodule names are looked up here too, and must not import the contract.
    """
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
