"""Notes that begin with ``---`` and have no frontmatter that ends."""

from __future__ import annotations

from typing import Any

import pytest

from hindnote.core.doctor.notes import _note

OPEN = "---\nkind: x\ntitle: t\nbody\n"
BREAK = "---\n\n**Subject: Hello**\n\nsecretword\n\n---\n\n> Final"


@pytest.fixture
def put(agent: Any) -> Any:
    def write(text: str) -> Any:
        return agent.put("@human/a", text)

    return write


@pytest.mark.parametrize("text", [OPEN, "---\nkind: x\n...\nbody\n", BREAK])
def test_all_of_it_is_listed_read_and_found(agent: Any, put: Any, text: str) -> None:
    put(text)
    problem = None if text == BREAK else "unclosed_frontmatter"

    (row,) = agent.list()["files"]
    assert (row.get("problem"), row["total_chars"]) == (problem, len(text))
    read = agent.read(address="@human/a")
    assert read["text"] == text
    assert ("frontmatter_error" in read["metadata"]) == (problem is not None)
    (found,) = agent.search(query="secretword" if text == BREAK else "body")["files"]
    assert found["matches_total"] == 1
    assert found.get("problem") == problem


@pytest.mark.parametrize("change", [{"origin": "self"}, {"archived": True}])
def test_a_change_of_metadata_is_refused_and_changes_nothing(
    agent: Any, put: Any, change: dict[str, Any]
) -> None:
    file = put(OPEN)

    refusal = agent.outcome("notes_update", address="@human/a", **change)

    assert refusal.code == "invalid_frontmatter"
    assert "never closed" in refusal.message
    assert file.read_text() == OPEN


def test_an_edit_of_the_body_stays_possible_and_can_close_it(agent: Any, put: Any) -> None:
    file = put(OPEN)

    edit = {"old_text": "title: t\n", "new_text": "title: t\n---\n"}
    agent.update(address="@human/a", edits=[edit])

    assert file.read_text() == "---\nkind: x\ntitle: t\n---\nbody\n"
    assert "problem" not in agent.list()["files"][0]


def test_a_write_replaces_all_of_it(agent: Any, put: Any) -> None:
    file = put(OPEN)

    agent.write(address="@human/a", content="new", origin="user")

    assert "kind: x" not in file.read_text()
    assert agent.read(address="@human/a")["text"] == "new"
    assert "problem" not in agent.list()["files"][0]


def test_a_thematic_break_takes_metadata(agent: Any, put: Any) -> None:
    put(BREAK)

    agent.update(address="@human/a", archived=True)

    assert agent.read(address="@human/a")["text"] == BREAK


@pytest.mark.folder_home
def test_doctor_tells_of_an_open_block_and_not_of_a_thematic_break(put: Any) -> None:
    assert any("never closed" in str(finding) for finding in _note(put(OPEN)))
    assert list(_note(put(BREAK))) == []
