from __future__ import annotations

import json

from click.testing import CliRunner

from hindnote.core.cli.app import make_app
from hindnote.core.project.tools import TOOLS as PROJECT_TOOLS
from hindnote.core.tools.registry import NAMES


def test_all_seven_declarations_are_printed_in_order() -> None:
    result = CliRunner().invoke(make_app(), ["schemas"])

    assert result.exit_code == 0
    assert [declared["name"] for declared in json.loads(result.output)] == list(NAMES)


def test_one_declaration_is_printed_alone() -> None:
    result = CliRunner().invoke(make_app(), ["schemas", "notes_read"])

    assert json.loads(result.output)["name"] == "notes_read"


def test_the_project_tools_are_printed_when_they_are_asked_for() -> None:
    result = CliRunner().invoke(make_app(), ["schemas", "--project"])
    one = CliRunner().invoke(make_app(), ["schemas", "project_todo_list"])

    declared = json.loads(result.output)
    assert [tool["name"] for tool in declared] == list(PROJECT_TOOLS)
    assert json.loads(one.output) == declared[2]


def test_an_unknown_operation_is_a_usage_error_that_names_the_seven() -> None:
    result = CliRunner().invoke(make_app(), ["schemas", "notes_delete"])

    assert result.exit_code == 2
    assert all(name in result.output for name in NAMES)


def test_a_tool_that_is_none_of_the_project_s_is_refused_with_those_that_are() -> None:
    result = CliRunner().invoke(make_app(), ["schemas", "--project", "notes_list"])

    assert result.exit_code == 2
    assert "notes_list is no project tool" in result.stderr
    assert all(name in result.stderr for name in PROJECT_TOOLS)


def test_a_project_tool_is_printed_with_the_option_as_without_it() -> None:
    alone, both = (
        CliRunner().invoke(make_app(), ["schemas", *words, "project_todo_list"])
        for words in ([], ["--project"])
    )

    assert (both.exit_code, both.output) == (0, alone.output)
