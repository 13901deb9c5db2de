"""Outputs of the two document tools: search and describe."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from hindnote.core.project.contract.bounds import (
    MAX_CONFIDENCE,
    MAX_DEFINITIONS,
    MAX_DISTINCT,
    MAX_ENUM_VALUES,
    MAX_EVIDENCE,
    MAX_FACET_VALUES,
    MAX_FACETS,
    MAX_FOCUSED_FIELDS,
    MAX_OBSERVED,
    MAX_RELATED,
    MAX_RESULTS,
    MAX_SAMPLES,
    MAX_TAG_VALUES,
    Count,
    DescriptionText,
    EnumText,
    FacetValueText,
    HashText,
    NameText,
    PathText,
    Rows,
    SampleText,
    SnippetText,
)
from hindnote.core.project.contract.envelope import (
    Closed,
    Completeness,
    Counted,
    Success,
    unset,
)

Scope = Literal["docs", "todos"]
ConfidenceLabel = Literal["raw_exact", "profile_validated", "profile_warning"]

# -- search -----------------------------------------------------------------------


class Facet(Closed):
    """One frontmatter key of a hit, with ``tags`` for the key ``tags`` and ``values`` otherwise."""

    name: NameText
    tags: Annotated[list[FacetValueText], Rows(MAX_TAG_VALUES, "facet_values")] = unset()
    """Of the key ``tags``."""

    values: Annotated[list[FacetValueText], Rows(MAX_FACET_VALUES, "facet_values")] = unset()
    """Of every other key."""


class FieldConfidence(Closed):
    """How far one field of a hit can be trusted."""

    field: NameText
    label: ConfidenceLabel


class Evidence(Closed):
    """One finding of a profile about a hit."""

    provider: NameText
    field: NameText = unset()
    finding: DescriptionText


class Confidence(Closed):
    """How far a hit's metadata can be trusted.

    ``raw_exact``: as written, no profile applies; ``profile_validated``: every
    profile that applies found nothing wrong; ``profile_warning``: one did.
    """

    label: ConfidenceLabel
    fields: Annotated[list[FieldConfidence], Rows(MAX_CONFIDENCE, "confidence", omit_unfit=True)]
    evidence: Annotated[list[Evidence], Rows(MAX_EVIDENCE, "evidence", omit_unfit=True)]


class Provenance(Closed):
    """Where a hit comes from."""

    scope: Scope
    source: Literal["index", "memory"]
    hash: HashText
    """Of the file's bytes when it was indexed."""

    matched: Annotated[
        list[Literal["title", "metadata", "body", "filter"]], Field(min_length=1, max_length=4)
    ]
    explanation: DescriptionText = unset()
    """How the score came about, when asked for."""


class Related(Closed):
    """A document that has to do with a hit."""

    path: PathText
    title: DescriptionText
    relation: Literal["links_to", "linked_from", "shares_value"]


class SearchRow(Closed):
    """One hit."""

    path: PathText
    kind: Literal["document", "todo"]
    title: DescriptionText
    snippet: SnippetText
    score: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    """Higher is better; comparable within one answer only; 0 without a query."""

    facets: Annotated[list[Facet], Rows(MAX_FACETS, "facets", omit_unfit=True)]
    confidence: Confidence
    provenance: Provenance
    related: Annotated[list[Related], Rows(MAX_RELATED, "related")]
    preview_covered: bool
    """False when the body goes on beyond the indexed preview."""


class ScannedRoot(Closed):
    """One root that the search covered."""

    scope: Scope
    path: PathText
    availability: Literal["present", "missing"]


class CacheState(Closed):
    """What the search ran on."""

    state: Literal["fresh", "refreshed", "rebuilt", "memory"]
    freshness: Literal["auto", "strict", "memory"]
    documents: Count
    """Documents that the search covered."""

    refreshed: Count
    """Documents that were read anew in this call."""

    previews_partial: Count
    """Documents whose body goes on beyond the indexed preview."""

    unreadable: Count
    """Entries that could not be read or whose name cannot be represented."""

    reason: DescriptionText = unset()
    """Why the index was rebuilt or not used."""

    roots: Annotated[list[ScannedRoot], Field(max_length=2)]


class SearchData(Closed):
    """Data of ``project_artifact_search``."""

    results: Annotated[list[SearchRow], Rows(MAX_RESULTS, "results")]
    cache_state: CacheState


class SearchCollections(Closed):
    """Collections of a search."""

    results: Counted
    related: Counted
    facets: Counted
    facet_values: Counted
    confidence: Counted
    evidence: Counted


class SearchCompleteness(Completeness):
    """Completeness of a search."""

    collections: SearchCollections


class SearchSuccess(Success):
    """A completed search."""

    data: SearchData
    completeness: SearchCompleteness


# -- describe ---------------------------------------------------------------------

FieldType = Literal["text", "number", "boolean", "null", "date", "list", "mapping"]


class Definition(Closed):
    """What a field means, and who says so."""

    name: NameText
    owner: NameText
    """``hindnote``, or the name of the profile."""

    type: FieldType
    description: DescriptionText
    required: bool
    enum: Annotated[list[EnumText], Rows(MAX_ENUM_VALUES, "enum_values")] = unset()


class ObservedField(Closed):
    """A field as the documents hold it."""

    name: NameText
    count: Count
    """Documents that hold it."""

    types: Annotated[list[FieldType], Field(max_length=7)]
    distinct: Annotated[int, Field(ge=0, le=MAX_DISTINCT)]
    distinct_capped: bool
    """True when there are more distinct values than were counted."""


class FieldSamples(Closed):
    """Redacted sample values of one field."""

    field: NameText
    owner: NameText
    values: Annotated[list[SampleText], Rows(MAX_SAMPLES, "sample_values")]


class DescribeData(Closed):
    """Data of ``project_artifact_describe``."""

    definitions: Annotated[list[Definition], Rows(MAX_DEFINITIONS, "definitions")]
    observed: Annotated[list[ObservedField], Rows(MAX_OBSERVED, "observed")]
    samples: Annotated[list[FieldSamples], Rows(MAX_FOCUSED_FIELDS, "samples")] = unset()


class DescribeCollections(Closed):
    """Collections of a description."""

    definitions: Counted
    enum_values: Counted
    observed: Counted
    samples: Counted
    sample_values: Counted


class DescribeCompleteness(Completeness):
    """Completeness of a description."""

    collections: DescribeCollections


class DescribeSuccess(Success):
    """A completed description."""

    data: DescribeData
    completeness: DescribeCompleteness
