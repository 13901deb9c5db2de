"""``hindnote todo`` and ``hindnote docs``, as a person runs them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from hindnote.core.project import commands


@pytest.fixture
def invoke(base: Path) -> Callable[..., Result]:
    """Return a function that runs a command in the project's directory."""

    def call(*words: str, code: int = 0, stdin: str = "") -> Result:
        group = {"todo": commands.todo, "docs": commands.docs}[words[0]]
        result = CliRunner().invoke(group, [*words[1:], "--cwd", str(base)], input=stdin)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code == code, result.output
        return result

    return call


Invoke = Callable[..., Result]


def test_a_todo_is_created_listed_moved_and_found(base: Path, invoke: Invoke) -> None:
    made = invoke("todo", "create", "Fix it", "--priority", "p1", "--body", "-", stdin="needle")
    assert "created todos/001-pending-p1-fix-it.md" in made.stdout
    assert "001-pending-p1-fix-it.md | Fix it | " in invoke("todo", "list").stdout

    moved = invoke("todo", "transition", "1", "ready")
    assert "is now ready: todos/001-ready-p1-fix-it.md" in moved.stdout
    assert "state: valid" in invoke("todo", "inspect", "001").stdout
    assert "next id 002" in invoke("todo", "allocate").stdout
    assert "todos/001-ready-p1-fix-it.md" in invoke("docs", "search", "needle").stdout
    assert "issue_id" in invoke("docs", "describe").stdout


def test_json_is_the_tools_own_output(invoke: Invoke) -> None:
    invoke("todo", "create", "Fix it")

    dto = json.loads(invoke("todo", "list", "--json").stdout)

    assert dto["ok"] is True
    assert dto["data"]["todos"][0]["priority"] == "p2"


def test_a_refusal_exits_with_one_and_goes_to_stderr(base: Path, invoke: Invoke) -> None:
    result = invoke("todo", "list", code=1)

    assert result.stdout == ""
    assert "error: root_missing" in result.stderr
    (base / "todos").mkdir()
    assert "no todo with id 7" in invoke("todo", "inspect", "7", code=1).stderr
    assert "not_found" in invoke("todo", "transition", "todos/x.md", "ready", code=1).stderr


def test_validate_exits_with_one_when_there_are_issues(base: Path, invoke: Invoke) -> None:
    (base / "todos").mkdir()
    invoke("todo", "validate")
    (base / "todos" / "001-ready-p1-x.md").write_text("broken")

    assert "invalid_frontmatter" in invoke("todo", "validate", code=1).stdout
    assert json.loads(invoke("todo", "validate", "--json", code=1).stdout)["ok"] is True


def test_two_todos_of_one_id_are_named(base: Path, invoke: Invoke) -> None:
    (base / "todos").mkdir()
    for name in ("007-ready-p1-x.md", "007-ready-p1-y.md"):
        (base / "todos" / name).write_text("x")

    told = invoke("todo", "inspect", "7", code=1).stderr

    assert "007-ready-p1-x.md" in told
    assert "007-ready-p1-y.md" in told


def test_a_transition_guards_the_hash_that_was_given(invoke: Invoke) -> None:
    invoke("todo", "create", "Fix it")

    stale = f"sha256:{'0' * 64}"
    told = invoke("todo", "transition", "1", "ready", "--expected-hash", stale, code=1).stderr

    assert "stale_content" in told


def test_filters_and_samples_are_given_as_options(base: Path, invoke: Invoke) -> None:
    (base / "docs").mkdir()
    (base / "docs" / "a.md").write_text("---\ntags: [ops]\nowner: bob\n---\nword\n")
    (base / "docs" / "b.md").write_text("---\nowner: eve\n---\nword\n")

    hits = invoke("docs", "search", "--filter", "tags=ops,dev", "--filter", "owner=bob").stdout
    assert "docs/a.md" in hits
    assert "docs/b.md" not in hits
    shown = invoke("docs", "describe", "owner", "--samples").stdout
    assert "samples owner (hindnote): bob; eve" in shown
    assert "KEY=VALUE" in invoke("docs", "search", "--filter", "nothing", code=2).stderr
    assert "names of fields" in invoke("docs", "describe", "--samples", code=2).stderr


def test_what_was_left_out_is_told(base: Path, invoke: Invoke) -> None:
    (base / "docs").mkdir()
    for number in range(4):
        (base / "docs" / f"{number}.md").write_text("word")

    assert "results 2 of 4" in invoke("docs", "search", "word", "--limit", "2").stdout


def test_markup_in_a_document_is_printed_as_it_is(base: Path, invoke: Invoke) -> None:
    (base / "docs").mkdir()
    (base / "docs" / "a.md").write_text("# [red]x[/] \x1b[31mz\n")

    shown = invoke("docs", "search").stdout

    assert "[red]x[/]" in shown
    assert "\x1b" not in shown
    assert "\\x1b[31mz" in shown


def commands_of(group: click.Group) -> list[Any]:
    return [group, *group.commands.values()]


@pytest.mark.parametrize(
    "command", [*commands_of(commands.todo), *commands_of(commands.docs)], ids=lambda c: c.name
)
def test_every_command_and_option_explains_itself(command: click.Command) -> None:
    assert command.help
    for option in command.params:
        if isinstance(option, click.Option) and not isinstance(option.type, click.Choice):
            assert option.help or option.show_default, option.name
