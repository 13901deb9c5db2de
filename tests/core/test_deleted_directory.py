"""A session outlives its directory: a worktree is removed while the agent still runs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from good_host import Good

from hindnote import HostCall
from hindnote.core.call import Answer, Dispatcher
from hindnote.core.cli.app import make_app
from hindnote.core.plugins.hosts import Hosts


def run_command(command: list[str]) -> Result:
    return CliRunner().invoke(make_app(), command)


class Gone:
    """A session whose directory was removed while it ran."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.directory = folder / "worktree"
        self.dispatcher = Dispatcher(Hosts.of({"good": Good()}), folder / "notes")

    def host_call(self) -> HostCall:
        return HostCall(host="good", cwd=self.directory)

    def __call__(self, name: str, **arguments: Any) -> Answer:
        return self.dispatcher.call(self.host_call(), name, arguments)


@pytest.fixture
def gone(tmp_path: Path) -> Gone:
    session = Gone(tmp_path)
    session.directory.mkdir()
    session("notes_write", address="@project/plan", content="the plan")
    session.directory.rmdir()
    return session


@pytest.mark.parametrize("address", ["plan", "@human/plan", "@self/plan", "@model/plan"])
def test_notes_that_need_no_directory_are_written_read_and_changed(
    gone: Gone, address: str
) -> None:
    assert gone("notes_write", address=address, content="one").result["outcome"] == "created"
    edit = {"old_text": "one", "new_text": "two"}
    assert gone("notes_update", address=address, edits=[edit]).result["change"] == "body"
    assert gone("notes_read", address=address).result["text"] == "two"


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("notes_write", {"address": "@project/x", "content": ""}),
        ("notes_read", {"address": "@project/plan"}),
        ("notes_update", {"address": "@project/plan", "archived": True}),
        ("notes_list", {"glob": "@project/**"}),
        ("notes_search", {"glob": "@project/*", "query": "plan"}),
    ],
)
def test_what_needs_the_project_is_refused_with_the_way_out(
    gone: Gone, name: str, arguments: Mapping[str, Any]
) -> None:
    refused = gone(name, **arguments)

    assert refused.result["code"] == "invalid_cwd"
    assert "give cwd" in refused.result["error"]


def test_a_directory_of_the_calls_own_is_the_way_out(gone: Gone, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()

    written = gone("notes_write", address="@project/x", content="here", cwd=str(other))

    assert written.result["outcome"] == "created"
    assert gone("notes_read", address="@project/x", cwd=str(other)).result["text"] == "here"
    assert gone("notes_read", address="@project/x", cwd="absent").result["code"] == "invalid_cwd"


@pytest.mark.parametrize("glob", [None, "**", "@*/**"])
def test_a_view_of_all_homes_names_the_project_as_unavailable(gone: Gone, glob: str | None) -> None:
    gone("notes_write", address="@human/a", content="")

    listed = gone("notes_list", **({} if glob is None else {"glob": glob}))

    assert [row["address"] for row in listed.result["files"]] == ["@human/a.md"]
    assert listed.result["homes_unavailable"] == ["@project"]


def test_a_view_of_other_homes_says_nothing_of_the_project(gone: Gone) -> None:
    assert gone("notes_list", glob="@human/**").result["homes_unavailable"] == []


def test_history_is_refused_for_the_project_alone(gone: Gone) -> None:
    assert gone("history_list", session="*").result["items"] == []

    refused = gone("history_list", session="project:*")

    assert refused.result["code"] == "invalid_cwd"
    assert "'<host>:*'" in refused.result["error"]


def test_the_boot_block_says_that_there_is_no_project(gone: Gone) -> None:
    block = gone.dispatcher.boot(gone.host_call())

    assert f"No project: the directory {gone.directory} does not exist." in block


def test_a_session_note_gets_an_owner_when_it_moves_once_there_is_a_project(gone: Gone) -> None:
    gone("notes_write", address="@human/plan", content="x")
    gone("notes_update", address="@human/plan", rename_to="plan")

    file = gone.folder / "notes" / "good" / "session" / "s1" / "plan.md"

    assert "project:" not in file.read_text("utf-8")


@pytest.fixture
def in_a_deleted_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The process runs where nothing is left, with no settings of the person's own."""
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    for name in ("HINDNOTE_HOME", "HOME", "CLAUDE_CONFIG_DIR", "PI_CODING_AGENT_DIR"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    monkeypatch.setenv("PWD", str(gone))
    gone.rmdir()
    return gone


@pytest.mark.parametrize(
    "command",
    [
        ["call", "notes_list"],
        ["call", "history_list", '{"session": "*"}'],
        ["sessions"],
        ["search", "word"],
        ["hosts", "--check"],
        ["doctor"],
    ],
    ids=" ".join,
)
def test_a_command_that_needs_no_directory_works_where_it_was_deleted(
    in_a_deleted_directory: Path, command: list[str]
) -> None:
    done = run_command(command)

    assert done.exit_code == 0, done.output
    assert "defect" not in done.output


@pytest.mark.parametrize(
    ("command", "code", "advice"),
    [
        (["call", "notes_list", '{"glob": "@project/**"}'], 1, "give cwd"),
        (["sessions", "--project"], 1, "name sessions otherwise"),
        (["todo", "list"], 2, "give --cwd"),
        (["docs", "search", "word"], 2, "give --cwd"),
        (["present"], 2, "name one"),
    ],
    ids=str,
)
def test_a_command_that_needs_the_directory_says_the_way_out(
    in_a_deleted_directory: Path, command: list[str], code: int, advice: str
) -> None:
    done = run_command(command)

    assert done.exit_code == code
    assert advice in done.output
    assert "defect" not in done.output
