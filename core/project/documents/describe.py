"""``project_artifact_describe``: the meanings of fields, and the fields that occur."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field

from hindnote.core.project.contract.bounds import (
    MAX_DISTINCT,
    MAX_FOCUSED_FIELDS,
    MAX_NAME_CHARS,
    MAX_SAMPLES,
    utf16_length,
)
from hindnote.core.project.documents import profiles
from hindnote.core.project.documents.corpus import Corpus, Coverage, with_corpus
from hindnote.core.project.documents.integrity import Unsound, stored
from hindnote.core.project.documents.profiles import FieldDefinition, Profiles
from hindnote.core.project.documents.redact import is_safe
from hindnote.core.project.markdown import shown
from hindnote.core.project.outcome import Observation
from hindnote.core.project.rendering import View
from hindnote.core.project.todos.names import PRIORITIES, STATUSES
from hindnote.core.project.tool import Call, RootParams
from hindnote.core.text.messages import counted

OWNER = "hindnote"

BUILT_IN = (
    FieldDefinition("title", "text", "Title of the document; else its first heading counts."),
    FieldDefinition("tags", "list", "Subjects; documents that share one are related."),
    FieldDefinition("issue_id", "text", "Id of a todo, the same as in its file name."),
    FieldDefinition(
        "status", "text", "State of a todo, the same as in its file name.", enum=STATUSES
    ),
    FieldDefinition(
        "priority", "text", "Priority of a todo, the same as in its file name.", enum=PRIORITIES
    ),
)


class DescribeParams(RootParams):
    """Parameters of a description."""

    field_names: Annotated[list[str], Field(max_length=MAX_FOCUSED_FIELDS)] | None = None
    """Only these fields."""

    include_samples: bool = False
    """Redacted sample values of the fields named in field_names."""


def describe(call: Call, params: DescribeParams) -> Observation:
    """Return the definitions and the fields that occur in documents."""
    providers = call.providers or profiles.installed()
    known = profiles.ask(providers, call.workspace.path)
    names = params.field_names
    return with_corpus(
        Coverage(call, ("docs", "todos"), "auto"),
        lambda corpus: _observed(corpus, known, params, names),
    )


def _observed(
    corpus: Corpus, known: Profiles, params: DescribeParams, names: Sequence[str] | None
) -> Observation:
    _cover(corpus)
    data: dict[str, Any] = {
        "definitions": [
            row for row in _definitions(known) if names is None or row["name"] in names
        ],
        "observed": [row for row in _catalog(corpus) if names is None or row["name"] in names],
    }
    holders = {
        row["name"]: _holder(corpus, row["name"])
        for row in data["observed"]
        if utf16_length(row["name"]) > MAX_NAME_CHARS
    }
    if params.include_samples and names is not None:
        data["samples"] = [
            row for name in dict.fromkeys(names) for row in _samples(corpus, known, name)
        ]
    return Observation(data, holders=holders)


def _definitions(known: Profiles) -> Iterator[dict[str, Any]]:
    owned = [(OWNER, definition) for definition in BUILT_IN]
    owned += [(profile.name, item) for profile in known.active for item in profile.definitions]
    for owner, definition in owned:
        row: dict[str, Any] = {
            "name": definition.name,
            "owner": owner,
            "type": definition.type,
            "description": definition.description,
            "required": definition.required,
        }
        if definition.enum is not None:
            row["enum"] = list(definition.enum)
        yield row


def _cover(corpus: Corpus) -> None:
    """Put the covered documents into a table for joins."""
    execute = corpus.connection.execute
    # The connection may have been used by an earlier call.
    execute("DROP TABLE IF EXISTS temp.covered")
    execute("CREATE TEMP TABLE covered (path TEXT PRIMARY KEY) WITHOUT ROWID")
    corpus.connection.executemany(
        "INSERT INTO covered VALUES (?)", ((path,) for path in corpus.scopes)
    )


_COVERED = "document IN (SELECT id FROM documents JOIN covered USING (path))"


def _catalog(corpus: Corpus) -> Iterator[dict[str, Any]]:
    rows = corpus.connection.execute(
        "SELECT key, count(DISTINCT document), count(DISTINCT value), group_concat(DISTINCT type) "
        f"FROM fields WHERE {_COVERED} GROUP BY key ORDER BY 2 DESC, key"
    )
    for key, count, distinct, types in rows:
        yield {
            "name": key,
            "count": count,
            "types": sorted(types.split(",")),
            "distinct": min(distinct, MAX_DISTINCT),
            "distinct_capped": distinct > MAX_DISTINCT,
        }


def _holder(corpus: Corpus, key: str) -> str:
    """Return the path of a document that has a field."""
    statement = (
        "SELECT path FROM fields JOIN documents ON id = document "
        f"WHERE key = ? AND {_COVERED} ORDER BY path"
    )
    return str(corpus.connection.execute(statement, (key,)).fetchone()[0])


def _samples(corpus: Corpus, known: Profiles, name: str) -> Iterator[dict[str, Any]]:
    own = _safe(name, _shown(corpus, name))
    if own:
        yield {"field": name, "owner": OWNER, "values": own}
    for provider, values in known.samples(name):
        safe = _safe(name, iter(values))
        if safe:
            yield {"field": name, "owner": provider, "values": safe}


def _shown(corpus: Corpus, name: str) -> Iterator[str]:
    """Yield the distinct values of a field, after checking each against its document."""
    rows = corpus.connection.execute(
        "SELECT shown, min(document) FROM fields "
        f"WHERE key = ? AND shown <> '' AND {_COVERED} GROUP BY shown ORDER BY shown",
        (name,),
    )
    for text, number in rows:
        value = stored(corpus.connection, number).values().get(name)
        if text not in map(shown, value if isinstance(value, list) else [value]):
            raise Unsound("it holds a value that its document does not")
        yield text


def _safe(name: str, values: Iterator[str]) -> list[str]:
    found: list[str] = []
    for value in values:
        if len(found) == MAX_SAMPLES:
            break
        if is_safe(name, value):
            found.append(value)
    return found


def view(data: Mapping[str, Any], totals: Mapping[str, int]) -> View:
    """Render a description as lines."""
    lines = [
        f"{row['name']} ({row['type']}, {row['owner']}{', required' if row['required'] else ''}): "
        f"{row['description']}{_enum(row)}"
        for row in data["definitions"]
    ]
    lines += [
        f"observed {row['name']}: {counted(row['count'], 'document', grouped=False)}, "
        f"{'over ' if row['distinct_capped'] else ''}"
        f"{counted(row['distinct'], 'distinct value', grouped=False)}, "
        f"{', '.join(row['types'])}"
        for row in data["observed"]
    ]
    lines += [
        f"samples {row['field']} ({row['owner']}): {'; '.join(row['values'])}"
        for row in data.get("samples", [])
    ]
    counts = {"definitions": len(data["definitions"]), "observed": len(data["observed"])}
    summary = (
        f"{counted(counts['definitions'], 'definition', grouped=False)}, "
        f"{counted(counts['observed'], 'observed field', grouped=False)}"
    )
    return View(summary, lines, counts)


def _enum(definition: Mapping[str, Any]) -> str:
    values = definition.get("enum")
    return "" if values is None else f" One of: {', '.join(values)}."
