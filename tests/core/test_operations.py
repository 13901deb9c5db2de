"""The seven as they are declared, and their real results against the declarations."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from hindnote import HostCall
from hindnote.core.call import Answer, Dispatcher
from hindnote.core.errors import REFUSAL_CODES
from hindnote.core.history.operations.lookups import READING
from hindnote.core.plugins.hosts import Hosts
from hindnote.core.tools.registry import NAMES, registry
from hindnote.core.tools.schema import DESCRIPTION_LIMIT, declaration
from hindnote.hosts.pi import plugin as pi

SESSION = Path(__file__).parents[1] / "data" / "pi" / "codemode.jsonl"

CHARACTERS = 18_000
"""Of all declarations as compact JSON. Pi's codemode gives the declarations of all tools
3,000 estimated tokens of TypeScript; the limit keeps ours from growing unnoticed."""


@pytest.fixture(params=NAMES)
def declared(request: pytest.FixtureRequest) -> dict[str, Any]:
    return declaration(registry()[request.param])


def test_a_description_is_short_enough_for_every_host(declared: dict[str, Any]) -> None:
    assert 0 < len(declared["description"]) < DESCRIPTION_LIMIT
    assert declared["title"]


def test_the_declarations_together_stay_small() -> None:
    """Counted as a host sends them: name, description and both schemas, compact."""
    sent = [
        {key: value for key, value in declaration(operation).items() if key != "hints"}
        for operation in registry().values()
    ]
    size = len(json.dumps(sent, separators=(",", ":"), ensure_ascii=False))

    assert size < CHARACTERS


@pytest.mark.parametrize("schema", ["inputSchema", "outputSchema"])
def test_a_schema_is_valid_and_every_object_in_it_is_closed(
    declared: dict[str, Any], schema: str
) -> None:
    Draft202012Validator.check_schema(declared[schema])
    assert declared[schema]["type"] == "object"
    assert [part for part in objects(declared[schema]) if not closed(part)] == []


def objects(schema: Any) -> list[dict[str, Any]]:
    found = []
    if isinstance(schema, dict):
        if "properties" in schema:
            found.append(schema)
        found += [part for value in schema.values() for part in objects(value)]
    elif isinstance(schema, list):
        found += [part for value in schema for part in objects(value)]
    return found


def closed(part: dict[str, Any]) -> bool:
    return part.get("additionalProperties") is False


def test_every_code_is_one_of_the_closed_list() -> None:
    for operation in registry().values():
        assert operation.codes <= REFUSAL_CODES


def test_hints_say_which_operations_only_look() -> None:
    for name, operation in registry().items():
        assert operation.hints.read_only is (name in READING)
        assert not (operation.hints.read_only and operation.hints.destructive)


def test_the_notes_operations_take_a_cwd_and_history_has_its_session() -> None:
    for name, operation in registry().items():
        fields = set(operation.params.model_fields)
        assert ("cwd" in fields) is (operation.family == "notes"), name
        assert ("session" in fields) is (operation.family == "history"), name


def test_descriptions_are_written_once() -> None:
    described = [operation.description for operation in registry().values()]

    assert len(set(described)) == len(NAMES)


CALLS: list[tuple[str, dict[str, Any]]] = [
    ("notes_write", {"address": "plan", "content": "---\nkey: 1.10\n---\nShip é.\nShip.\n"}),
    ("notes_write", {"address": "@project/big", "content": "部\x01" * 30_000}),
    ("notes_list", {}),
    ("notes_list", {"glob": "@project/**", "limit": 1}),
    ("notes_search", {"query": "ship"}),
    ("notes_search", {"query": ["部"], "glob": "**"}),
    ("notes_search", {}),
    ("notes_read", {"address": "plan"}),
    ("notes_read", {"address": "@project/big", "limit_chars": 50_000}),
    ("notes_read", {"address": "absent"}),
    ("notes_update", {"address": "plan", "edits": [{"old_text": "é", "new_text": "e"}]}),
    ("notes_update", {"address": "plan", "archived": True}),
    ("notes_list", {"archived": True}),
    ("notes_update", {"address": "plan", "rename_to": "@self/plan"}),
    ("notes_update", {"address": "@self/plan"}),
    ("history_list", {}),
    ("history_list", {"limit": 3, "from": "oldest"}),
    ("history_list", {"limit": 200, "max_chars_per_item": 12_000}),
    ("history_list", {"query": "read", "roles": ["tool"]}),
    ("history_list", {"query": "no such words"}),
    ("history_list", {"since": "never"}),
    ("history_list", {"session": "pi:absent"}),
    ("history_read", {"seq": 1}),
    ("history_read", {"seq": 3}),
    ("history_read", {"seq": 3, "limit_chars": 10}),
    ("history_read", {"seq": 4}),
    ("history_read", {"seq": 9_999}),
]


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> list[Answer]:
    """Every call in order, on one notes home and one recorded session."""
    folder = tmp_path_factory.mktemp("calls")
    call = HostCall(host="pi", cwd=folder, session_file=SESSION, config_dir=folder / "no-config")
    dispatcher = Dispatcher(Hosts.of({"pi": pi}), folder / "notes")
    return [dispatcher.call(call, name, arguments) for name, arguments in CALLS]


@pytest.mark.parametrize("index", range(len(CALLS)))
def test_a_real_result_is_valid_under_its_declaration(answers: list[Answer], index: int) -> None:
    answer = answers[index]
    schema = declaration(registry()[answer.operation])["outputSchema"]

    Draft202012Validator(schema).validate(json.loads(answer.structured()))
    assert json.loads(answer.structured()) == answer.result


@pytest.mark.parametrize("index", range(len(CALLS)))
def test_real_arguments_are_valid_under_the_declaration(index: int) -> None:
    name, arguments = CALLS[index]
    schema = declaration(registry()[name])["inputSchema"]

    Draft202012Validator(schema).validate(arguments)


@pytest.mark.parametrize("index", range(len(CALLS)))
def test_a_real_result_fits_in_both_forms(answers: list[Answer], index: int) -> None:
    answer = answers[index]

    assert len(answer.structured().encode()) <= 32_768
    assert len(answer.text.encode()) <= 32_768


def test_the_calls_end_both_ways(answers: list[Answer]) -> None:
    """Or the tests above would prove little."""
    for name in NAMES:
        ends = {answer.is_error for answer in answers if answer.operation == name}
        assert False in ends, name
    assert sum(answer.is_error for answer in answers) >= 5
