from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from hindnote.core.cli.app import make_app

DATA = Path(__file__).parents[2] / "data"


def run(*arguments: str) -> Result:
    return CliRunner().invoke(make_app(), ["present", *arguments])


def results(*arguments: str) -> list[dict[str, Any]]:
    done = run(*arguments, "--format", "json")
    assert done.exit_code == 0, done.output
    found: list[dict[str, Any]] = json.loads(done.stdout)["results"]
    return found


def test_the_results_of_a_session_of_any_host_are_presented(recorded: Path) -> None:
    kinds = {one["presentation"]["kind"] for one in results("claude:a4cc")}

    assert kinds == {"bash", "edit", "find", "read", "text", "write"}
    assert [one["tool"] for one in results("claude:a4cc", "--last", "2")] == ["Read", "TodoWrite"]
    assert results("pi:01a22bdd-2b")


def test_a_file_is_read_by_the_host_that_wrote_it() -> None:
    file = str(DATA / "claude/basic.jsonl")

    [edit] = results("--session-file", file, "--host", "claude", "--seq", "24")

    assert edit["presentation"]["kind"] == "edit"
    assert run("--session-file", file).exit_code == 1


@pytest.mark.parametrize(
    ("arguments", "said", "code"),
    [
        (["zzzzzzzz"], "unknown_session", 1),
        (["a", "--session-file", str(DATA / "pi/basic.jsonl")], "not both", 2),
        (["--session-file", str(DATA / "pi/basic.jsonl"), "--host", "none"], "no host 'none'", 2),
    ],
)
def test_what_cannot_be_shown_is_told(
    recorded: Path, arguments: list[str], said: str, code: int
) -> None:
    done = run(*arguments)

    assert (done.exit_code, said in done.output) == (code, True)
