"""The notebook of a session: of a fork, and of ids that differ by letter case alone."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from hindnote.core.plugins.models import Ancestor

Agents = Any


@pytest.fixture
def parent(agent: Any) -> Any:
    """An agent in the session from which the others are forked."""
    return agent


def fork(of: Any, session: str, forked: float | None = None) -> Any:
    """Return an agent in a session that was forked from another agent's."""
    made = of.in_session(session)
    near = Ancestor(session_id=of.identity.session_id, forked=forked)
    ancestors = (near, *of.identity.ancestors)
    made.identity = replace(made.identity, ancestors=ancestors)
    return made


def notebook(agent: Any) -> dict[str, bytes]:
    """Return the notes of an agent's own notebook."""
    return dict(agent.notebook())


def test_a_fork_lists_reads_and_finds_its_parent_s_notes(parent: Any) -> None:
    parent.write(address="plan", content="Ship the ferry.\n")
    child = fork(parent, "s2")

    [row] = child.list()["files"]
    assert (row["address"], row["inherited_from"]) == ("plan.md", "s1")
    read = child.read(address="plan")
    assert (read["text"], read["inherited_from"]) == ("Ship the ferry.\n", "s1")
    assert "inherited from s1" in child.text
    [found] = child.search(query="ferry")["files"]
    assert found["inherited_from"] == "s1"
    assert "inherited_from" not in parent.read(address="plan")


def test_a_fork_sees_an_inherited_note_as_it_is_now(parent: Any) -> None:
    parent.write(address="plan", content="old\n")
    child = fork(parent, "s2", time.time() + 1)
    parent.write(address="plan", content="new\n")

    assert child.read(address="plan")["text"] == "new\n"


def test_a_note_that_was_made_after_the_fork_is_not_inherited(parent: Any) -> None:
    parent.write(address="before", content="a\n")
    child = fork(parent, "s2", time.time() - 3600)

    assert child.list()["files"] == []
    assert child.code("read", address="before") == "not_found"
    assert child.write(address="before", content="b\n")["outcome"] == "created"


def test_a_change_in_a_fork_lands_in_its_own_notebook(parent: Any) -> None:
    parent.write(address="a/plan", content="---\ncolor: red\n---\none\n")
    before = notebook(parent)
    child = fork(parent, "s2")
    version = child.read(address="a/plan")["metadata"]["version"]

    edit = {"old_text": "one", "new_text": "two"}
    child.update(address="a/plan", edits=[edit], expected_version=version)

    read = child.read(address="a/plan")
    assert (read["text"], read["metadata"]["extra"]) == ("two\n", {"color": "red"})
    assert "inherited_from" not in read
    assert [row["address"] for row in child.list()["files"]] == ["a/plan.md"]
    assert notebook(parent) == before


def test_a_write_over_an_inherited_note_keeps_its_times_and_foreign_keys(parent: Any) -> None:
    parent.write(address="plan", content="---\ncolor: red\n---\none\n")
    created = parent.read(address="plan")["metadata"]["created_at"]
    child = fork(parent, "s2")

    refused = child.code("write", address="plan", content="x", expected_version="absent")
    assert refused == "changed"
    assert child.write(address="plan", content="two\n")["outcome"] == "overwrote"
    metadata = child.read(address="plan")["metadata"]
    assert (metadata["created_at"], metadata["extra"]) == (created, {"color": "red"})


def test_a_note_that_a_fork_archived_shows_as_archived_in_it_alone(parent: Any) -> None:
    parent.write(address="plan", content="one\n")
    child = fork(parent, "s2")

    child.update(address="plan", archived=True)

    assert child.list()["files"] == []
    assert [row["address"] for row in child.list(archived=True)["files"]] == ["plan.md"]
    assert [row["address"] for row in parent.list()["files"]] == ["plan.md"]
    assert child.write(address="plan", content="again\n")["outcome"] == "restored"


def test_an_update_that_changes_nothing_of_an_inherited_note_leaves_it_inherited(
    parent: Any,
) -> None:
    parent.write(address="a/plan", content="one\n", origin="self")
    child = fork(parent, "s2")

    assert child.update(address="a/plan", origin="self")["change"] == "none"
    assert child.read(address="a/plan")["inherited_from"] == "s1"
    assert notebook(child) == {}


def test_a_rename_in_a_fork_leaves_an_archived_note_under_the_old_name(parent: Any) -> None:
    parent.write(address="plan", content="one\n")
    child = fork(parent, "s2")

    done = child.update(address="plan", rename_to="b/plan")

    assert done["rename_from"] == "plan.md"
    assert [row["address"] for row in child.list()["files"]] == ["b/plan.md"]
    assert [row["address"] for row in child.list(archived=True)["files"]] == ["plan.md"]
    assert child.read(address="b/plan")["text"] == "one\n"
    assert [row["address"] for row in parent.list()["files"]] == ["plan.md"]


def test_a_rename_of_a_note_that_hides_an_inherited_one_keeps_it_hidden(parent: Any) -> None:
    parent.write(address="plan", content="one\n")
    child = fork(parent, "s2")
    child.write(address="plan", content="two\n")

    child.update(address="plan", rename_to="later")

    assert [row["address"] for row in child.list()["files"]] == ["later.md"]
    assert child.read(address="later")["text"] == "two\n"


def test_a_rename_onto_an_inherited_note_is_refused(parent: Any) -> None:
    parent.write(address="plan", content="one\n")
    child = fork(parent, "s2")
    child.write(address="mine", content="two\n")

    refused = child.code("update", address="mine", rename_to="plan")

    assert refused == "already_exists"
    assert child.read(address="mine")["text"] == "two\n"
    assert child.read(address="plan")["text"] == "one\n"


def test_a_fork_of_a_fork_inherits_from_the_nearest(parent: Any) -> None:
    parent.write(address="old", content="from the first\n")
    parent.write(address="plan", content="first\n")
    child = fork(parent, "s2")
    child.write(address="plan", content="second\n")
    grandchild = fork(child, "s3")

    rows = {row["address"]: row["inherited_from"] for row in grandchild.list()["files"]}
    assert rows == {"old.md": "s1", "plan.md": "s2"}
    assert grandchild.read(address="plan")["text"] == "second\n"
    assert grandchild.read(address="old")["text"] == "from the first\n"


def test_a_note_that_cannot_be_changed_stays_inherited(parent: Any) -> None:
    parent.write(address="plan", content="one\n")
    child = fork(parent, "s2")

    refused = child.code("update", address="plan", edits=[{"old_text": "x", "new_text": "y"}])

    assert refused == "no_match"
    assert notebook(child) == {}


@pytest.mark.folder_home
@pytest.mark.parametrize(
    ("first", "second", "folder"),
    [
        ("abc", "ABC", "%41%42%43"),
        ("abc", "aBc", "a%42c"),
        ("ABC", "abc", "%61%62%63"),
        ("a/b", "A/b", "%41%2Fb"),
    ],
)
def test_ids_that_differ_by_letter_case_get_each_a_notebook(
    agent: Any, first: str, second: str, folder: str
) -> None:
    one, other = (type(agent)(agent.home, agent.cwd, session) for session in (first, second))
    one.write(address="plan", content="one\n")
    other.write(address="plan", content="two\n")

    assert (agent.home / "pi/session" / folder / "plan.md").is_file()
    assert one.read(address="plan")["text"] == "one\n"
    assert other.read(address="plan")["text"] == "two\n"


@pytest.mark.folder_home
def test_a_folder_that_is_there_keeps_its_name(agent: Any, tmp_path: Path) -> None:
    for name in ("abc", "ABC"):
        made = agent.home / "pi/session" / name
        made.mkdir(parents=True)
        (made / "plan.md").write_text(name)

    for name in ("abc", "ABC"):
        assert type(agent)(agent.home, agent.cwd, name).read(address="plan")["text"] == name
