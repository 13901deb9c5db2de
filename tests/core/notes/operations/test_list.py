"""What ``notes_list`` answers: the view, bounds and both forms."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from hindnote.core.delivery.budget import OUTPUT_BUDGET_BYTES
from hindnote.core.notes import catalogue
from hindnote.core.notes.facts import Facts


def test_a_list_shows_the_five_homes_newest_first_then_by_address(agent: Any) -> None:
    for address, second in [
        ("s", 1), ("@project/p", 5), ("@human/b", 3), ("@human/a", 3), ("@self/m", 4),
        ("@model/m", 2), ("@agents/you/x", 9),
    ]:  # fmt: skip
        agent.put(address, "body", second)

    assert agent.addresses() == [
        "@project/p.md", "@self/m.md", "@human/a.md", "@human/b.md", "@model/m.md", "s.md",
    ]  # fmt: skip


def test_a_row_says_what_a_note_is_in_both_forms(agent: Any) -> None:
    agent.put("@project/a", "---\narchivedAt: '2024-01-01 why'\n---\né部\r\n", 0)

    row = agent.list(archived=True)["files"][0]

    key = agent.store.homes.project_key
    assert row == {
        "address": "@project/a.md",
        "project_key": key,
        "updated_at": row["updated_at"],
        "archived_at": "2024-01-01 why",
        "total_chars": 4,
    }
    # With its offset, since the clock is the person's.
    offset = row["updated_at"][-6:].replace("+00:00", "Z")
    minute = row["updated_at"][:16].replace("T", " ") + offset
    line = f"@project/a.md | {minute} | 4 chars | archived 2024-01-01 why"
    assert agent.text.splitlines() == [f"1 note; @project is {key}", line]


def test_archived_notes_are_counted_or_shown(agent: Any) -> None:
    agent.put("@human/live", "x")
    agent.put("@human/gone", "---\narchivedAt: 2024-01-01\n---\nx")
    agent.put("@project/gone", "---\narchivedAt: 2024-01-01\n---\nx")

    listed = agent.list()
    assert [row["address"] for row in listed["files"]] == ["@human/live.md"]
    assert listed["archived_excluded"] == 2
    assert "2 archived not shown" in agent.text
    assert agent.list(glob="@human/*")["archived_excluded"] == 1
    assert sorted(agent.addresses(archived=True)) == ["@human/gone.md", "@project/gone.md"]
    assert agent.list(archived=True)["archived_excluded"] == 0


@pytest.mark.folder_home
def test_one_broken_note_does_not_hide_the_others(
    agent: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(1000):
        agent.put(f"@human/n{number:03}", "needle")
    opened = os.open

    def denied(path: Any, *args: Any, **kwargs: Any) -> int:
        if path == "n500.md":
            raise PermissionError(13, "Permission denied")
        return opened(path, *args, **kwargs)

    monkeypatch.setattr(catalogue.os, "open", denied)

    listed = agent.list()
    assert len(listed["files"]) + listed["more"] == 999
    assert listed["unreadable"] == 1
    assert "1 unreadable" in agent.text
    found = agent.search(query="needle")
    assert len(found["files"]) + found["more"] == 999


def test_notes_with_bad_frontmatter_are_reported_among_good_ones(agent: Any) -> None:
    agent.put("@human/good", "---\ntitle: fine\n---\nneedle")
    agent.put("@human/bad", "---\ntitle: KB: Something\n---\nneedle")

    for rows in (agent.list()["files"], agent.search(query="needle")["files"]):
        assert {row["address"]: row.get("problem") for row in rows} == {
            "@human/good.md": None,
            "@human/bad.md": "invalid_frontmatter",
        }
    assert "problem: invalid_frontmatter" in agent.text


@pytest.mark.folder_home
def test_names_that_no_address_can_have_are_counted(agent: Any) -> None:
    folder = agent.put("@human/a", "x").parent
    (folder / "C:x.md").write_text("x")
    (folder / "blank .md").write_text("x")
    Path(os.fsdecode(os.fsencode(folder) + b"/\xff")).mkdir()
    (folder / ".hidden.md").write_text("x")
    (folder / ".git").mkdir()
    (folder / "readme.txt").write_text("x")

    listed = agent.list()

    assert sorted(row["address"] for row in listed["files"]) == ["@human/a.md", "@human/blank .md"]
    assert listed["unreadable"] == 2


@pytest.mark.folder_home
def test_an_unreadable_home_is_named(agent: Any, tmp_path: Path) -> None:
    agent.put("@human/a", "x")
    (tmp_path / "elsewhere").mkdir()
    (agent.home / "models").mkdir()
    (agent.home / "models" / "model-1").symlink_to(tmp_path / "elsewhere")
    (agent.home / "project").write_text("in the way")

    listed = agent.list()

    assert [row["address"] for row in listed["files"]] == ["@human/a.md"]
    assert listed["homes_unavailable"] == ["@project", "@model"]
    assert "unavailable: @project, @model" in agent.text
    assert agent.search(query="x")["homes_unavailable"] == ["@project", "@model"]


@pytest.mark.folder_home
def test_a_folder_of_homes_that_cannot_be_opened_is_named(agent: Any, tmp_path: Path) -> None:
    agent.put("@human/a", "x")
    (tmp_path / "elsewhere").mkdir()
    (agent.home / "agents").symlink_to(tmp_path / "elsewhere")

    assert agent.list(glob="@agents/**")["homes_unavailable"] == ["@agents"]
    assert agent.list(glob="@models/**")["homes_unavailable"] == []


@pytest.mark.folder_home
def test_a_home_that_does_not_exist_is_empty(agent: Any) -> None:
    assert agent.list() == {
        "files": [], "more": 0, "archived_excluded": 0, "unreadable": 0, "homes_unavailable": [],
    }  # fmt: skip
    assert agent.text == "0 notes"
    assert not agent.home.exists()


def test_a_list_of_many_notes_fits_and_counts_the_rest(agent: Any) -> None:
    for number in range(400):
        agent.put(f"@human/{'long name ' * 15}{number:04}", "needle")

    listed = agent.list()
    shown = len(listed["files"])

    assert 0 < shown < 400
    assert shown + listed["more"] == 400
    assert f"400 notes; {shown} shown, {listed['more']} left out (narrow with glob)" in agent.text
    assert all(row["address"] in agent.text for row in listed["files"])
    size = len(json.dumps(listed, ensure_ascii=False, separators=(",", ":")).encode())
    assert OUTPUT_BUDGET_BYTES - 300 < max(size, len(agent.text.encode())) <= OUTPUT_BUDGET_BYTES
    found = agent.search(query="needle")
    assert len(found["files"]) + found["more"] == 400


def test_a_limit_leaves_the_rest_counted(agent: Any) -> None:
    for number in range(5):
        agent.put(f"@human/{number}", "x")

    assert len(agent.list(limit=2)["files"]) == 2
    assert agent.list(limit=2)["more"] == 3
    assert agent.search(query="x", limit=1)["more"] == 4


@pytest.mark.folder_home
def test_a_list_sees_every_change_of_files(agent: Any) -> None:
    """Facts are kept while a file stays as it is, so each kind of change must show."""
    path = agent.put("@human/a", "one")
    old = 1_600_000_000
    for body in ("two!", "six", "---\narchivedAt: 2024-01-01\n---\n", "three"):
        path.write_text(body)
        os.utime(path, (old, old))
        assert agent.list(archived="arch" in body)["files"][0]["total_chars"] == (
            0 if "arch" in body else len(body)
        )
    other = path.with_name("b.md")
    path.rename(other)
    assert agent.addresses() == ["@human/b.md"]
    other.unlink()
    assert agent.addresses() == []


@pytest.mark.folder_home
def test_kept_facts_are_those_of_the_files(agent: Any) -> None:
    for number in range(3):
        agent.put(f"@human/{number}", "body")
    deadline = time.monotonic() + 10
    while any(known.stamp is None for known in listed_facts(agent)):
        assert time.monotonic() < deadline

    agent.put("@human/1", "another")

    assert {row["address"]: row["total_chars"] for row in agent.list()["files"]} == {
        "@human/0.md": 4, "@human/1.md": 7, "@human/2.md": 4,
    }  # fmt: skip


def listed_facts(agent: Any) -> list[Facts]:
    return agent.store.files.contents(agent.store.homes.default()).notes


@pytest.mark.folder_home
def test_folders_too_deep_for_an_address_are_counted(agent: Any) -> None:
    folder = agent.put("@human/a", "x").parent
    for _ in range(300):
        folder /= "d"
    folder.mkdir(parents=True)

    assert agent.list()["unreadable"] == 1
