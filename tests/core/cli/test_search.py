from __future__ import annotations

import json
import shlex
from typing import Any

import pytest
from click.testing import CliRunner, Result

from hindnote.core.cli.app import make_app


def run(*arguments: str) -> Result:
    return CliRunner().invoke(make_app(), arguments)


@pytest.fixture(autouse=True)
def talks(corpus: Any) -> None:
    corpus.add_pi("aaaaaaaa-1", "hay", "a Needle in " + "hay " * 400)
    corpus.add_claude("cccccccc-1", "hay " * 400 + "needle", "a \x1b[31mneedle, needle")


def test_hits_are_shown_by_session_newest_first() -> None:
    lines = run("search", "--literal", "NEEDLE").output.splitlines()

    assert lines[0].startswith("claude:cccccccc-1  2026-11-30 00:55  /w  hay hay ")
    assert lines[1] == "  seq 1  user  2026-11-30 09:00"
    assert lines[2].startswith("    … ")
    assert lines[2].endswith(" needle")
    assert lines[4] == "  seq 2  user  2026-11-30 09:01  2 matches"
    assert lines[5] == "    a \\x1b[31mneedle, needle"
    assert lines[8].startswith("pi:aaaaaaaa-1")
    assert lines[10].startswith("    a Needle in hay")
    assert lines[10].endswith(" …")
    assert lines[-1] == "3 hits; 2 of 2 sessions searched to the end"


def test_one_session_is_told_as_one() -> None:
    end = run("search", "--literal", "needle", "--host", "pi").output.splitlines()[-1]

    assert end == "1 hit; 1 of 1 session searched to the end"


def test_each_hit_comes_with_the_command_that_reads_it() -> None:
    found = run("search", "--literal", "needle", "--host", "claude").output
    commands = [line for line in found.splitlines() if line.startswith("    hindnote call")]
    arguments = [shlex.split(line)[1:] for line in commands]

    assert [json.loads(one[-1])["seq"] for one in arguments] == [1, 2]
    read = run(*arguments[0]).output
    assert read.startswith("session claude:cccccccc-1 | seq 1 | user\n")
    assert "needle" in read


def test_json_is_the_result_of_the_tool() -> None:
    query = {"session": "*", "query": ["needle"], "limit": 20}

    shown = run("search", "--literal", "needle", "--json").stdout

    assert shown == run("call", "history_list", json.dumps(query), "--structured").stdout
    assert len(json.loads(shown)["items"]) == 3


def test_any_of_the_words_matches_and_a_phrase_as_a_whole() -> None:
    assert json.loads(run("search", "--literal", "in hay", "nowhere", "--json").stdout)["items"]
    assert not json.loads(run("search", "--literal", "hay in", "--json").stdout)["items"]


def test_without_literal_the_best_hits_come_first_whatever_form_their_words_have() -> None:
    lines = run("search", "the needles?").output.splitlines()

    assert [line for line in lines if line.startswith("  seq")] == [
        "  seq 2  user  2026-11-30 09:01",
        "  seq 1  user  2026-11-30 09:00",
        "  seq 2  user  2026-11-30 09:01",
    ]
    assert lines[0].startswith("claude:cccccccc-1")
    assert sum("hindnote call history_read" in line for line in lines) == 3
    assert lines[-1] == "3 hits; 2 of 2 sessions searched to the end"
    assert run("search", "telescopes").output.splitlines()[-1].startswith("0 hits; 2 of 2")


def test_what_matched_is_highlighted_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")

    ranked, literal = (
        run("search", *words).output for words in (["the needles?"], ["--literal", "eedl"])
    )

    assert "a \x1b[1;33mNeedle\x1b[0m in" in ranked
    assert "a N\x1b[1;33meedl\x1b[0me in" in literal
    assert "\x1b[1;33mhay" not in ranked + literal


def test_ranked_hits_have_the_form_of_the_tool() -> None:
    asked = {"session": "*", "about": "needles", "limit": 20}

    shown = run("search", "needles", "--json").stdout

    assert shown == run("call", "history_list", json.dumps(asked), "--structured").stdout


def test_limits_and_bounds_are_passed_on() -> None:
    limited = run("search", "--literal", "needle", "--limit", "1").output

    assert "1 hit; 0 of 2 sessions searched to the end; --limit," in limited
    assert run("search", "--literal", "needle", "--since", "2026-12-01").output.startswith(
        "0 hits; 2 of 2"
    )
    assert run("search", "--literal", "needle", "--until", "2026-11-29").output.startswith(
        "0 hits; 2 of 2"
    )


@pytest.mark.parametrize(
    ("arguments", "message", "code"),
    [
        (["needle", "--host", "nope"], "no host 'nope' is installed", 2),
        (["needle", "--until", "soon"], "error: invalid_time: ", 1),
        (["needle", "--host", "pi", "--project"], "--host or --project", 2),
        ([""], "no word", 2),
        ([], "WORDS", 2),
        (["needle", "--limit", "201"], "--limit", 2),
    ],
)
def test_what_cannot_be_asked_is_refused(arguments: list[str], message: str, code: int) -> None:
    result = run("search", *arguments)

    assert result.exit_code == code
    assert message in result.stderr
