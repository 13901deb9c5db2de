from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from hindnote.core.cli import show as module
from hindnote.core.cli.app import make_app
from hindnote.core.cli.session_options import asking_for
from hindnote.core.text.controls import HIDDEN

DATA = Path(__file__).parents[2] / "data"
FILES = sorted([*DATA.glob("claude/**/*.jsonl"), *DATA.glob("pi/*.jsonl")])
SEQS = {
    "terminal": re.compile(r"^seq (\d+)  ", re.MULTILINE),
    "html": re.compile(r' data-seq="(\d+)"'),
    "md": re.compile(r"^(?:- |## \w+ · |### )seq (\d+)\b", re.MULTILINE),
}


def run(*arguments: str) -> Result:
    return CliRunner().invoke(make_app(), ["show", *arguments])


def shown(*arguments: str) -> str:
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def place(corpus: Any, file: Path) -> str:
    """Put one recorded session where its host keeps it, and return its name."""
    host = file.relative_to(DATA).parts[0]
    target = (corpus.pi if host == "pi" else corpus.claude) / file.relative_to(DATA / host)
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(file, target)
    asked = asking_for("*")
    [session] = [one.canonical for one in asked.dispatcher.sessions(asked.call).many("*")]
    return session


def events(session: str) -> Iterator[dict[str, Any]]:
    """Yield the events of a session as ``history_list`` gives them, from the oldest."""
    asked = asking_for("*")
    page: dict[str, Any] | None = {"from": "oldest"}
    while page:
        given = {**page, "session": session, "roles": ["user", "assistant", "tool", "context"]}
        answer = asked.dispatcher.call(asked.call, "history_list", given)
        assert not answer.is_error, answer.text
        yield from answer.result["items"]
        page = answer.result["page_newer"]


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}-{file.stem}")
def test_every_recorded_session_shows_each_event_of_its_history_once(
    corpus: Any, file: Path
) -> None:
    session = place(corpus, file)
    listed = [row["seq"] for row in events(session)]

    for name, pattern in SEQS.items():
        for more in ((), ("--tools", "--full")):
            text = shown(session, "--all", "--format", name, *more)
            assert [int(seq) for seq in pattern.findall(text)] == listed, name


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}-{file.stem}")
def test_every_recorded_word_is_shown(corpus: Any, file: Path) -> None:
    session = place(corpus, file)
    terminal = shown(session, "--all", "--tools", "--full")
    page = unescape(re.sub("<[^>]*>", "", shown(session, "--all", "--full", "--format", "html")))

    for row in events(session):
        if row["role"] != "tool":
            for word in re.findall(r"\w{4,}", HIDDEN.sub(" ", row["content"])):
                assert word in terminal
                assert word in page


def test_the_newest_page_comes_first_and_says_how_to_see_what_came_before(corpus: Any) -> None:
    session = place(corpus, DATA / "claude/basic.jsonl")

    first = shown(session, "--limit", "3")
    seqs = SEQS["terminal"].findall(first)
    earlier = re.search(r"^earlier: hindnote show (\S+) --before (\d+)$", first, re.MULTILINE)
    assert earlier is not None
    before = shown(earlier[1], "--before", earlier[2], "--limit", "3")

    assert len(seqs) == 3
    assert earlier[2] == seqs[0]
    assert int(SEQS["terminal"].findall(before)[-1]) < int(seqs[0])
    assert f"later: hindnote show {session} --around " in before


def test_events_around_one_are_shown(corpus: Any) -> None:
    session = place(corpus, DATA / "pi/compaction.jsonl")
    seqs = [row["seq"] for row in events(session)]

    around = shown(session, "--around", str(seqs[10]), "--limit", "5")

    assert [int(seq) for seq in SEQS["terminal"].findall(around)] == seqs[8:13]


def test_one_event_is_shown_with_what_the_tool_did(corpus: Any) -> None:
    session = place(corpus, DATA / "pi/parallel.jsonl")

    [call] = [row for row in events(session) if row["role"] == "tool"][:1]
    text = shown(session, "--seq", str(call["seq"]))

    assert SEQS["terminal"].findall(text) == [str(call["seq"])]
    assert len(text.splitlines()) > 4


def test_windows_and_branches_that_were_left_are_marked_in_their_places(corpus: Any) -> None:
    compacted = shown(place(corpus, DATA / "pi/compaction.jsonl"), "--all")

    assert "── window 2: the session was compacted here" in compacted
    assert "── window 3: the session was compacted here" in compacted


def test_a_branch_that_was_left_is_told_by_its_prompts(corpus: Any) -> None:
    for file, told in (
        (
            "pi/branch.jsonl",
            (
                "── a branch that was left: seq 6 to 23, 14 events: “Try approach A.”; "
                "“Try approach B.”; “Refine approach B.”"
            ),
        ),
        (
            "claude/rewind-interactive.jsonl",
            "── a branch that was left: seq 15 to 23, 6 events: “Prompt B”; “Prompt C”",
        ),
    ):
        session = place(corpus, DATA / file)
        assert told in shown(session, "--all")
        for path in (*corpus.pi.glob("*"), *corpus.claude.glob("*")):
            path.unlink()


def test_images_are_named_with_type_and_size(corpus: Any) -> None:
    assert "[image image/png, " in shown(place(corpus, DATA / "pi/images.jsonl"), "--all")


def test_a_long_text_is_cut_with_the_way_to_the_rest(corpus: Any) -> None:
    corpus.add_pi("aaaaaaaa-1", "long " * 10_000 + "end")
    way = "… 30,003 more characters (hindnote show pi:aaaaaaaa-1 --seq 1 --full)"

    assert way in shown("aaaaaaaa", "--all")
    assert "30,003 more characters" in shown("aaaaaaaa", "--all", "--format", "html")
    assert "30,003 more characters" in shown("aaaaaaaa", "--all", "--format", "md")
    assert shown("aaaaaaaa", "--seq", "1", "--full").endswith("end\n")


def test_without_a_name_the_latest_session_of_the_directory_is_shown(
    corpus: Any, tmp_path: Path
) -> None:
    corpus.add_pi("aaaaaaaa-1", "Here.", cwd=str(tmp_path))
    corpus.add_pi("bbbbbbbb-1", "Elsewhere.")

    assert "Here." in shown()


def test_a_directory_without_sessions_is_no_crash(corpus: Any) -> None:
    result = run()

    assert result.exit_code == 2
    assert "no session ran in" in result.stderr


def test_a_directory_that_was_deleted_shows_its_session_and_is_no_crash(
    corpus: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    monkeypatch.setenv("PWD", str(gone))
    gone.rmdir()

    result = run()
    assert result.exit_code == 2
    assert f"no session ran in {gone}; name one" in result.stderr

    corpus.add_pi("aaaaaaaa-1", "Here.", cwd=str(gone))
    assert "Here." in shown()


@pytest.mark.parametrize(
    ("arguments", "message", "code"),
    [
        (["aaaaaaaa", "--seq", "9"], "unknown_seq", 1),
        (["zzzzzzzz"], "unknown_session", 1),
        (["aaaaaaaa", "--seq", "1", "--all"], "give one of", 2),
    ],
)
def test_what_cannot_be_shown_is_refused(
    corpus: Any, arguments: list[str], message: str, code: int
) -> None:
    corpus.add_pi("aaaaaaaa-1", "one")

    result = run(*arguments)

    assert (result.exit_code, message in result.stderr) == (code, True)


ANSWER = "# Title\n\n<b onclick=x>bold</b> and **strong**\n\n<div>\nblock\n</div>\n"


def add_answer(corpus: Any, text: str) -> None:
    file = corpus.add_pi("aaaaaaaa-1", "one")
    row = {"type": "message", "id": "x", "parentId": "aaaaaaaa-10"}
    row["message"] = {"role": "assistant", "content": [{"type": "text", "text": text}]}
    with file.open("a") as out:
        out.write(json.dumps(row) + "\n")


def test_an_answer_is_rendered_on_a_terminal_and_its_html_stays_text(
    corpus: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_answer(corpus, ANSWER)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "80")

    output = re.sub("\x1b\\[[0-9;]*m", "", shown("aaaaaaaa"))

    assert "<b onclick=x>bold</b> and strong" in output
    assert "<div> block </div>" in output
    assert max(map(len, output.splitlines())) <= 80


def test_a_pipe_gets_an_answer_as_it_was_written(corpus: Any) -> None:
    add_answer(corpus, ANSWER)

    assert ANSWER.rstrip() in shown("aaaaaaaa")


def test_a_terminal_is_paged_from_the_end(
    corpus: Any,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    corpus.add_pi("aaaaaaaa-1", "one")
    pager = tmp_path_factory.mktemp("bin") / "less"
    pager.write_text(f'#!/bin/sh\necho "$LESS $@" > {tmp_path}/told\ncat > {tmp_path}/paged\n')
    pager.chmod(0o755)
    monkeypatch.setenv("PAGER", str(pager))
    monkeypatch.delenv("LESS", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(module, "is_terminal", lambda: True)

    assert shown("aaaaaaaa") == ""

    assert (tmp_path / "told").read_text() == "-FRX +G\n"
    assert "one" in (tmp_path / "paged").read_text()


@pytest.mark.parametrize("pager", ["", "cat", "no-such-program", "'"])
def test_without_a_pager_it_is_printed(
    corpus: Any, monkeypatch: pytest.MonkeyPatch, pager: str
) -> None:
    corpus.add_pi("aaaaaaaa-1", "one")
    monkeypatch.setenv("PAGER", pager)
    monkeypatch.setattr(module, "is_terminal", lambda: True)

    assert "one" in shown("aaaaaaaa")


@pytest.mark.parametrize("named", ["less", "./less", "bin/less", "{project}/less"])
def test_a_pager_that_a_repository_brought_along_is_not_run(
    corpus: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, named: str
) -> None:
    corpus.add_pi("aaaaaaaa-1", "one")
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    (project / "bin").mkdir()
    for place in ("less", "bin/less"):
        (project / place).write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\ncat\n")
        (project / place).chmod(0o755)
    monkeypatch.chdir(project)
    monkeypatch.setenv("PATH", os.pathsep.join([".", "bin", str(project / "bin"), "/usr/bin"]))
    monkeypatch.setenv("PAGER", named.format(project=project))
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(module, "is_terminal", lambda: True)

    run("aaaaaaaa")

    assert not (tmp_path / "ran").exists()


def test_a_pager_that_is_left_early_is_no_error(
    corpus: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus.add_pi("aaaaaaaa-1", *["long " * 9_000] * 9)
    monkeypatch.setenv("PAGER", "true")
    monkeypatch.setattr(module, "is_terminal", lambda: True)

    assert run("aaaaaaaa", "--all").exit_code == 0
