"""How a declaration is made from models; the seven are checked in ``test_operations``."""

from __future__ import annotations

import json
from typing import Annotated, Literal

from pydantic import Field

from hindnote.core.history.operations.list import HISTORY_LIST
from hindnote.core.notes.operations.write import NOTES_WRITE
from hindnote.core.project.tools import TOOLS as PROJECT_TOOLS
from hindnote.core.project.tools import declaration as project_declaration
from hindnote.core.tools.operation import Hints, Operation, Params
from hindnote.core.tools.outcome import Result, Success
from hindnote.core.tools.registry import registry
from hindnote.core.tools.schema import declaration, schema_of


class Edit(Params):
    """Written for readers of the code."""

    old_text: str
    """Text to replace."""


class Asked(Params):
    """Written for readers of the code."""

    address: str
    """The note."""

    query: str | list[str] | None = None
    """Literals."""

    limit: Annotated[int, Field(ge=1, le=5)] | None = None
    edits: list[Edit] | None = None
    side: Literal["old", "new"] = "new"


class Row(Result):
    seq: int
    note: str | None = None


class Told(Result):
    next: int | None
    rows: list[Row]
    archived_at: str | None = None


OPERATION = Operation(
    name="toy",
    title="Toy",
    description="A toy.",
    family="notes",
    params=Asked,
    success=Told,
    codes=frozenset({"not_found", "changed"}),
    hints=Hints(read_only=False, destructive=True, idempotent=False),
    handle=lambda call, params: Success(Told(next=None, rows=[])),
    render=lambda result: "",
)


def test_null_is_offered_only_where_the_contract_has_it() -> None:
    told = schema_of(Told)

    assert told["properties"]["archived_at"] == {"type": "string"}
    assert told["properties"]["next"] == {"anyOf": [{"type": "integer"}, {"type": "null"}]}
    assert told["required"] == ["next", "rows"]


def test_the_nulls_of_a_page_recipe_are_offered() -> None:
    properties = declaration(HISTORY_LIST)["inputSchema"]["properties"]

    for name in ("before_seq", "after_seq"):
        assert properties[name]["type"] == ["integer", "null"]
        assert "xclusive" in properties[name]["description"]


def test_no_input_schema_refers_to_a_definition() -> None:
    """Strict clients drop a tool whose input schema does."""
    declared = [declaration(operation) for operation in registry().values()]
    declared += [project_declaration(tool) for tool in PROJECT_TOOLS.values()]

    for tool in declared:
        sent = json.dumps(tool["inputSchema"])
        assert '"$ref"' not in sent, tool["name"]
        assert '"$defs"' not in sent, tool["name"]


def test_the_word_that_creates_only_is_said_to_be_a_word() -> None:
    properties = declaration(NOTES_WRITE)["inputSchema"]["properties"]

    assert "the word absent" in properties["expected_version"]["description"]
    assert "Omitted: no check" in properties["expected_version"]["description"]


def test_bounds_and_choices_are_declared() -> None:
    properties = schema_of(Asked)["properties"]

    assert properties["limit"] == {"type": "integer", "minimum": 1, "maximum": 5}
    assert properties["side"] == {"enum": ["old", "new"], "default": "new", "type": "string"}


def test_a_field_s_docstring_is_declared_and_a_model_s_is_not() -> None:
    asked = schema_of(Asked)

    assert asked["properties"]["address"]["description"] == "The note."
    assert "description" not in asked
    assert "description" not in asked["$defs"]["Edit"]
    assert "title" not in str(asked)


def test_every_object_is_closed() -> None:
    declared = declaration(OPERATION)
    success, refusal = declared["outputSchema"]["anyOf"]

    assert declared["inputSchema"]["additionalProperties"] is False
    assert declared["inputSchema"]["properties"]["edits"]["items"]["additionalProperties"] is False
    assert success["additionalProperties"] is False
    assert refusal["additionalProperties"] is False
    assert declared["outputSchema"]["$defs"]["Row"]["additionalProperties"] is False


def test_a_refusal_is_declared_with_the_operation_s_own_codes() -> None:
    refusal = declaration(OPERATION)["outputSchema"]["anyOf"][1]

    assert refusal["properties"]["code"]["enum"] == ["changed", "not_found"]
    assert refusal["required"] == ["error", "code"]


def test_the_output_is_an_object_at_its_root() -> None:
    assert declaration(OPERATION)["outputSchema"]["type"] == "object"


def test_the_rest_is_the_operation_s_own() -> None:
    declared = declaration(OPERATION)

    assert (declared["name"], declared["title"], declared["description"]) == (
        "toy",
        "Toy",
        "A toy.",
    )
    assert declared["hints"] == {"readOnly": False, "destructive": True, "idempotent": False}
