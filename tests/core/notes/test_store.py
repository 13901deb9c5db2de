"""Writing, updating and renaming through the operations, and what the files hold afterwards."""

from __future__ import annotations

import errno
import hashlib
import os
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hindnote.core.fs import atomic, exchange
from hindnote.core.notes import clock

STAMP = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}[+-]\d\d:\d\d"


# -- writing --------------------------------------------------------------------


def test_a_new_note_records_where_it_comes_from(agent: Any) -> None:
    receipt = agent.write(address="plan", content="body\n")

    text = agent.bytes("plan").decode()
    key = agent.store.homes.project_key
    assert re.fullmatch(
        f"---\norigin: self\ncreatedAt: {STAMP}\nupdatedAt: {STAMP}\nproject: {key}\n---\nbody\n",
        text,
    )
    assert receipt == {
        "address": "plan.md",
        "outcome": "created",
        "version": hashlib.sha256(text.encode()).hexdigest()[:12],
    }


def test_a_project_note_names_its_project_and_has_no_owner(agent: Any) -> None:
    receipt = agent.write(address="@project/plan", content="body", origin="external")

    assert receipt["project_key"] == agent.store.homes.project_key
    assert b"project:" not in agent.bytes("@project/plan")
    assert agent.read(address="@project/plan")["metadata"]["origin"] == "external"


def test_overwriting_keeps_the_creation_and_foreign_keys_byte_for_byte(agent: Any) -> None:
    head = "---\n# why\ntags: [2024, 1.10]  # c\ncreatedAt: 2020-01-01T00:00:00.000+00:00\n"
    agent.put("@human/a", f"{head}---\nold")

    assert agent.write(address="@human/a", content="new")["outcome"] == "overwrote"

    text = agent.bytes("@human/a").decode()
    assert text.startswith(head)
    assert re.fullmatch(f"origin: self\nupdatedAt: {STAMP}\n---\nnew", text.removeprefix(head))


def test_writing_an_archived_note_restores_it(agent: Any) -> None:
    agent.put("@human/a", "---\ncrumpledAt: 2020-01-01\narchivedAt: 2021-01-01\n---\nold")

    assert agent.write(address="@human/a", content="new")["outcome"] == "restored"
    assert b"edAt: 202" not in agent.bytes("@human/a").replace(b"updatedAt", b"").replace(
        b"createdAt", b""
    )
    assert agent.addresses() == ["@human/a.md"]


@pytest.mark.parametrize(
    "body",
    ["", "a", "a\r\n\r\n", "  trailing  \n\n", "\ufeffbom", "---\n---\nno block of its own",
     "---\nACME LEGAL PLLC\n---\nbody", "---\ntitle: a: b\n---\nbody", "---\n", "a\rb\x0c\u2028c",
     "\ufeff---\nx\n---\n"],
)  # fmt: skip
def test_a_body_reads_back_as_it_was_written(agent: Any, body: str) -> None:
    expected = body.removeprefix("---\n---\n")
    agent.write(address="a", content=body)
    assert agent.read(address="a")["text"] == expected
    agent.write(address="a", content=body)
    assert agent.read(address="a")["text"] == expected


@given(body=st.text(max_size=40), crlf=st.booleans())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_body_survives_every_change_of_metadata(agent: Any, body: str, crlf: bool) -> None:
    newline = "\r\n" if crlf else "\n"
    agent.put("@human/a", f"---{newline}x: 1{newline}---{newline}{body}")
    for arguments in ({"archived": True}, {"origin": "external"}, {"archived": False}):
        agent.update(address="@human/a", **arguments)
        assert agent.bytes("@human/a").decode().endswith(f"---{newline}{body}")
    agent.update(address="@human/a", rename_to="@project/a")
    assert agent.read(address="@project/a")["text"] == body
    agent.path("@project/a").unlink()


def test_frontmatter_of_content_is_merged_by_key(agent: Any) -> None:
    agent.put("@human/a", "---\nkeep: 1\ntitle: old  # c\nlist:\n  - a\n# end\n---\nold")

    agent.write(
        address="@human/a",
        content="---\ntitle: new # d\nlist: [b]\nmore: |\n  x\norigin: external\n"
        "createdAt: 1999-01-01\naccessCount: 9\n---\nbody",
    )

    text = agent.bytes("@human/a").decode()
    assert text.startswith(
        "---\nkeep: 1\ntitle: new # d\nlist: [b]\n# end\nmore: |\n  x\norigin: self\n"
    )
    assert "1999" not in text
    assert "accessCount" not in text
    assert text.endswith("---\nbody")


def test_a_new_note_takes_the_block_of_its_content_as_it_stands(agent: Any) -> None:
    agent.write(
        address="@human/a",
        content="---\r\n# why\r\nz: 1\r\norigin: user\r\na: 1.10 # c\r\n---\r\nbody\r\n",
    )

    text = agent.bytes("@human/a").decode()
    assert text.startswith("---\r\n# why\r\nz: 1\r\na: 1.10 # c\r\norigin: self\r\ncreatedAt: ")
    assert text.endswith("\r\n---\r\nbody\r\n")
    assert "\n" not in text.replace("\r\n", "")


def test_a_merge_that_would_change_other_keys_is_refused(agent: Any) -> None:
    path = agent.put("@human/a", "---\nbase: &b 1\nuse: *b\n---\nold")
    before = path.read_bytes()

    code = agent.code("write", address="@human/a", content="---\nbase: 2\n---\nnew")

    assert code == "invalid_frontmatter"
    assert path.read_bytes() == before


def test_content_in_braces_says_what_to_do(agent: Any) -> None:
    refusal = agent.refused("write", address="@human/a", content="---\n{title: x}\n---\nb")

    assert refusal.code == "invalid_frontmatter"
    assert "give each key a line" in refusal.message
    assert agent.files() == []


# -- frontmatter that cannot be read ----------------------------------------------


BROKEN = "---\ntitle: a: b\ndescription: keep me\n---\n"


def test_a_broken_block_keeps_its_bytes_through_body_edits_and_renames(agent: Any) -> None:
    agent.put("@human/a", BROKEN + "body")

    agent.update(address="@human/a", edits=[{"old_text": "body", "new_text": "one"}])
    agent.update(address="@human/a", edits=[{"old_text": "one", "new_text": "two"}])
    assert agent.bytes("@human/a").decode() == BROKEN + "two"
    agent.update(address="@human/a", rename_to="moved")
    assert agent.bytes("moved").decode() == BROKEN + "two"
    agent.write(address="moved", content="three")
    assert agent.bytes("moved").decode() == BROKEN + "three"


def test_a_change_of_broken_metadata_is_refused_naming_file_and_line(agent: Any) -> None:
    path = agent.put("@human/a", BROKEN + "body")

    for arguments in ({"archived": True}, {"origin": "self"}):
        refusal = agent.refused("update", address="@human/a", **arguments)
        assert refusal.code == "invalid_frontmatter"
        assert str(path) in refusal.message
        assert "line 2" in refusal.message
    content = "---\nx: 1\n---\nbody"
    assert agent.code("write", address="@human/a", content=content) == "invalid_frontmatter"
    assert path.read_text() == BROKEN + "body"


def test_a_broken_block_is_said_with_the_note(agent: Any) -> None:
    agent.put("@human/a", BROKEN + "body")

    read = agent.read(address="@human/a")
    assert read["text"] == "body"
    assert read["metadata"]["frontmatter_error"].startswith("line 2: ")
    assert "frontmatter error: line 2: " in agent.text
    row = agent.list()["files"][0]
    assert (row["problem"], row["total_chars"]) == ("invalid_frontmatter", 4)


def test_a_block_in_braces_keeps_its_bytes_and_refuses_changes(agent: Any) -> None:
    agent.put("@human/a", "---\n{title: x}\n---\nbody")

    agent.update(address="@human/a", edits=[{"old_text": "body", "new_text": "new"}])
    assert agent.bytes("@human/a") == b"---\n{title: x}\n---\nnew"
    assert agent.code("update", address="@human/a", archived=True) == "invalid_frontmatter"
    assert agent.read(address="@human/a")["metadata"]["extra"] == {"title": "x"}


def test_a_block_that_is_no_mapping_is_body(agent: Any) -> None:
    source = "---\nACME LEGAL PLLC\n---\nbody"
    agent.put("@human/a", source)
    assert agent.read(address="@human/a")["text"] == source

    agent.update(address="@human/a", archived=True)

    assert re.fullmatch(
        f"---\narchivedAt: {STAMP}\n---\n{source}", agent.bytes("@human/a").decode()
    )
    agent.update(address="@human/a", archived=False)
    assert agent.read(address="@human/a")["text"] == source


@pytest.mark.parametrize("date", ["2026-13-45", "0000-00-00", "2026-02-30T99:99:99Z"])
def test_an_impossible_date_is_listed_and_read(agent: Any, date: str) -> None:
    agent.put("@human/a", f"---\nd: {date}\ncreatedAt: {date}\nupdatedAt: {date}\n---\nbody")

    assert agent.addresses() == ["@human/a.md"]
    assert agent.read(address="@human/a")["metadata"]["extra"] == {"d": date}


def test_foreign_lines_survive_an_update(agent: Any) -> None:
    head = (
        "---\r\n# why\r\nmeta:\r\n  a: 1\r\nkey.x: 1\r\nclé: 2\r\nv: 1.0\r\n"
        "big: 9007199254740993\r\ntitle: 2026-05-26\r\ntags: [2024, true, null, 1.10]\r\n"
    )
    agent.put("@human/a", f"{head}---\r\nbody\r\n\r\n")

    agent.update(address="@human/a", archived=True, origin="user")

    text = agent.bytes("@human/a").decode()
    assert text.startswith(head)
    assert text.endswith("\r\n---\r\nbody\r\n\r\n")
    assert "\n" not in text.replace("\r\n", "")
    extra = agent.read(address="@human/a")["metadata"]["extra"]
    assert extra["v"] == "1.0"
    assert extra["big"] == "9007199254740993"
    assert extra["title"] == "2026-05-26"
    assert extra["tags"] == [2024, True, None, "1.10"]


def test_a_byte_order_mark_stays_where_it_is(agent: Any) -> None:
    agent.put("@human/a", "\ufeff---\ntitle: x\n---\nb")

    assert agent.read(address="@human/a")["text"] == "b"
    agent.update(address="@human/a", archived=True)
    assert agent.bytes("@human/a").decode().startswith("\ufeff---\ntitle: x\narchivedAt: ")


# -- updating --------------------------------------------------------------------


def test_an_edit_without_final_newline_adds_none(agent: Any) -> None:
    agent.put("@human/a", "a")

    agent.update(address="@human/a", edits=[{"old_text": "a", "new_text": "a\nb"}])

    assert agent.bytes("@human/a").decode().endswith("---\na\nb")


@pytest.mark.parametrize(
    ("arguments", "change"),
    [
        ({"edits": [{"old_text": "body", "new_text": "new"}]}, "body"),
        ({"edits": [{"old_text": "body", "new_text": "body"}]}, "none"),
        ({"archived": True}, "metadata"),
        ({"archived": False}, "none"),
        ({"origin": "self"}, "none"),
        ({"origin": "user"}, "metadata"),
        ({"edits": [{"old_text": "body", "new_text": "new"}], "archived": True}, "file"),
        ({"rename_to": "@human/a.md"}, "none"),
    ],
)
def test_the_receipt_says_what_changed(agent: Any, arguments: dict[str, Any], change: str) -> None:
    agent.write(address="@human/a", content="body")
    before = agent.bytes("@human/a"), agent.path("@human/a").stat()

    receipt = agent.update(address="@human/a", **arguments)

    assert receipt["change"] == change
    assert receipt["version"] == hashlib.sha256(agent.bytes("@human/a")).hexdigest()[:12]
    if change == "none":
        assert (agent.bytes("@human/a"), agent.path("@human/a").stat()) == before


def test_a_host_gets_the_body_before_and_after(agent: Any) -> None:
    agent.write(address="@human/a", content="one\r\n")

    agent.update(address="@human/a", edits=[{"old_text": "one", "new_text": "two"}])

    assert agent.extras == {"before": "one\r\n", "after": "two\r\n"}
    assert "two" not in agent.text


def test_edits_are_all_or_nothing(agent: Any) -> None:
    path = agent.put("@human/a", "x\nx\ny")
    edits = [{"old_text": "y", "new_text": "z"}, {"old_text": "x", "new_text": "w"}]

    refusal = agent.refused("update", address="@human/a", edits=edits)

    assert refusal.code == "ambiguous_edit"
    assert "edits[1]" in refusal.message
    assert "lines 1, 2" in refusal.message
    assert path.read_text() == "x\nx\ny"


@pytest.mark.parametrize("arguments", [{}, {"edits": []}, {"replace_all": True}])
def test_asking_for_nothing_is_refused(agent: Any, arguments: dict[str, Any]) -> None:
    agent.write(address="@human/a", content="body")

    assert agent.code("update", address="@human/a", **arguments) == "nothing_to_do"


def test_an_update_of_a_missing_note_suggests_and_writes_nothing(agent: Any) -> None:
    agent.write(address="@project/deploy-prod-old", content="body")

    refusal = agent.refused("update", address="@project/deploy-prod", archived=True)

    assert refusal.code == "not_found"
    assert "“@project/deploy-prod-old.md”" in refusal.message
    assert len(agent.files()) == 1


def test_archiving_and_renaming_leave_the_time_of_the_last_update(agent: Any) -> None:
    agent.put("@human/a", "body")
    agent.set_time("@human/a", 10**18)
    before = agent.read(address="@human/a")["metadata"]["updated_at"]

    agent.update(address="@human/a", archived=True)
    agent.update(address="@human/a", archived=False)
    agent.update(address="@human/a", rename_to="b")

    assert agent.read(address="b")["metadata"]["updated_at"] == before
    agent.update(address="b", edits=[{"old_text": "body", "new_text": "new"}])
    assert agent.read(address="b")["metadata"]["updated_at"] > before
    assert agent.read(address="b")["metadata"]["created_at"] == before


def test_an_edit_by_hand_shows_in_the_time_of_the_last_update(agent: Any) -> None:
    agent.write(address="@human/a", content="body")
    recorded = clock.parse_ms(agent.read(address="@human/a")["metadata"]["updated_at"])
    assert recorded is not None
    agent.set_time("@human/a", (recorded + 60_000) * 1_000_000)

    shown = agent.list()["files"][0]["updated_at"]

    assert clock.parse_ms(shown) == recorded + 60_000


def test_an_earlier_tool_s_mark_of_archiving_is_read_and_goes_on_restoring(agent: Any) -> None:
    agent.put("@human/a", "---\ncrumpledAt: 2020-01-01\n---\nbody")

    assert agent.addresses() == []
    assert agent.list(archived=True)["files"][0]["archived_at"] == "2020-01-01"
    assert agent.update(address="@human/a", archived=True)["change"] == "none"
    agent.update(address="@human/a", archived=False)
    assert agent.addresses() == ["@human/a.md"]
    assert b"crumpledAt" not in agent.bytes("@human/a")


# -- versions ---------------------------------------------------------------------


def test_a_change_with_another_version_in_mind_is_refused(agent: Any) -> None:
    version = agent.write(address="@human/a", content="one")["version"]
    agent.put("@human/a", "by hand")
    current = agent.read(address="@human/a")["metadata"]["version"]

    for name, arguments in [
        ("write", {"content": "two"}),
        ("update", {"archived": True}),
        ("update", {"rename_to": "@human/b"}),
    ]:
        refusal = agent.refused(name, address="@human/a", expected_version=version, **arguments)
        assert refusal.code == "changed"
        assert current in refusal.message
    assert agent.bytes("@human/a") == b"by hand"
    agent.write(address="@human/a", content="two", expected_version=current)


def test_absent_means_create_only(agent: Any) -> None:
    agent.write(address="@human/a", content="one", expected_version="absent")

    refusal = agent.refused("write", address="@human/a", content="x", expected_version="absent")

    assert refusal.code == "changed"
    assert agent.read(address="@human/a")["metadata"]["version"] in refusal.message
    assert (
        agent.code("write", address="@human/b", content="x", expected_version="0" * 12) == "changed"
    )
    assert agent.files() == ["human/a.md"]


# -- renaming ---------------------------------------------------------------------


@pytest.mark.folder_home
def test_a_rename_moves_all_and_leaves_no_empty_folder(agent: Any) -> None:
    agent.put("@human/a/b/c", "---\nx: 1.10\n---\nbody")

    receipt = agent.update(address="@human/a/b/c", rename_to="@human/d")

    assert receipt["address"] == "@human/d.md"
    assert receipt["rename_from"] == "@human/a/b/c.md"
    assert "rename_to" not in receipt
    assert receipt["change"] == "file"
    assert agent.bytes("@human/d") == b"---\nx: 1.10\n---\nbody"
    assert [p.name for p in (agent.home / "human").iterdir()] == ["d.md"]


def test_a_rename_between_homes_sets_and_drops_the_owner(agent: Any) -> None:
    agent.write(address="@human/a", content="body")
    agent.update(address="@human/a", rename_to="a")
    key = agent.store.homes.project_key
    assert agent.read(address="a")["metadata"]["project"] == key

    agent.update(address="a", rename_to="@human/a")
    assert b"project" not in agent.bytes("@human/a")


def test_what_a_person_wrote_under_the_owner_s_key_survives(agent: Any) -> None:
    agent.put("@human/a", "---\nproject: website\n---\nbody")

    agent.update(address="@human/a", rename_to="a")
    agent.update(address="a", rename_to="@human/a")

    assert agent.bytes("@human/a") == b"---\nproject: website\n---\nbody"
    assert agent.read(address="@human/a")["metadata"]["extra"] == {"project": "website"}


@pytest.mark.parametrize(("archived", "word"), [(False, "live"), (True, "archived")])
def test_a_rename_onto_another_note_is_refused(agent: Any, archived: bool, word: str) -> None:
    agent.write(address="@human/a", content="a")
    agent.write(address="@human/b", content="b")
    agent.update(address="@human/b", archived=archived)
    before = agent.bytes("@human/a"), agent.bytes("@human/b")

    refusal = agent.refused("update", address="@human/a", rename_to="@human/b")

    assert refusal.code == "already_exists"
    assert word in refusal.message
    assert (agent.bytes("@human/a"), agent.bytes("@human/b")) == before


@pytest.mark.parametrize("target", ["@human/PLAN", "@human/Folder/plan", "@human/FOLDER/PLAN"])
def test_a_change_of_letter_case_alone_is_allowed(agent: Any, target: str) -> None:
    source = "@human/folder/plan" if "/" in target.removeprefix("@human/") else "@human/plan"
    agent.write(address=source, content="body")

    agent.update(address=source, rename_to=target)

    assert agent.files() == [f"{target[1:]}.md"]


def test_a_folder_s_letter_case_does_not_change_under_other_notes(agent: Any) -> None:
    agent.write(address="@human/folder/a", content="a")
    agent.write(address="@human/folder/b", content="b")

    assert agent.code("update", address="@human/folder/a", rename_to="@human/Folder/a") == (
        "address_collision"
    )
    assert agent.files() == ["human/folder/a.md", "human/folder/b.md"]


def test_a_rename_into_a_colliding_name_is_refused(agent: Any) -> None:
    agent.write(address="@human/a", content="a")
    agent.write(address="@human/b", content="b")

    assert agent.code("update", address="@human/a", rename_to="@human/B") == "address_collision"


@pytest.mark.parametrize(
    "extra", [{"edits": []}, {"archived": False}, {"origin": "self"}, {"replace_all": False}]
)
def test_a_rename_goes_alone(agent: Any, extra: dict[str, Any]) -> None:
    from hindnote.core.tools.operation import ArgumentError

    with pytest.raises(
        ArgumentError, match="arguments: rename_to goes with expected_version and cwd alone"
    ):
        agent.update(address="@human/a", rename_to="@human/b", **extra)


# -- names ------------------------------------------------------------------------


def test_composed_and_decomposed_names_are_one_note(agent: Any) -> None:
    agent.write(address="@human/caf\u00e9", content="x")

    assert agent.read(address="@human/cafe\u0301")["address"] == "@human/caf\u00e9.md"
    assert agent.write(address="@human/cafe\u0301", content="y")["outcome"] == "overwrote"
    assert len(agent.files()) == 1


@pytest.mark.folder_home
def test_a_file_whose_name_is_not_normalized_answers_to_its_address(agent: Any) -> None:
    folder = agent.put("@human/x", "x").parent
    (folder / "e\u0301").mkdir()
    (folder / "e\u0301" / "cafe\u0301.md").write_text("old")

    assert "@human/\u00e9/caf\u00e9.md" in agent.addresses()
    assert agent.read(address="@human/\u00e9/caf\u00e9")["text"] == "old"
    assert agent.write(address="@human/\u00e9/caf\u00e9", content="new")["outcome"] == "overwrote"
    assert (folder / "e\u0301" / "cafe\u0301.md").read_text().endswith("new")
    agent.update(address="@human/\u00e9/caf\u00e9", rename_to="@human/y")
    assert agent.files() == ["human/x.md", "human/y.md"]


@pytest.mark.parametrize(
    ("first", "second"),
    [("Plan", "plan"), ("Stra\u00dfe", "strasse"), ("a/b/x", "a/B/y"), ("\u0130", "i\u0307")],
)
def test_a_name_that_would_be_another_s_elsewhere_is_refused(
    agent: Any, first: str, second: str
) -> None:
    agent.write(address=f"@human/{first}", content="x")

    refusal = agent.refused("write", address=f"@human/{second}", content="y")

    assert refusal.code == "address_collision"
    assert len(agent.files()) == 1
    part = first.split("/")[-2] if "/" in first else first
    assert part in refusal.message


@pytest.mark.folder_home
def test_two_colliding_names_that_exist_already_are_both_listed(agent: Any) -> None:
    agent.put("@human/Plan", "one")
    agent.put("@human/plan", "two!")
    (agent.home / "human" / "cafe\u0301.md").write_text("three")
    agent.put("@human/caf\u00e9", "four")

    rows = agent.list()["files"]

    assert sorted(row["address"] for row in rows) == [
        "@human/Plan.md", "@human/caf\u00e9.md", "@human/caf\u00e9.md", "@human/plan.md",
    ]  # fmt: skip
    assert [row["problem"] for row in rows if "problem" in row] == ["shadowed"]
    assert agent.read(address="@human/Plan")["text"] == "one"
    assert agent.read(address="@human/plan")["text"] == "two!"
    assert agent.read(address="@human/cafe\u0301")["text"] == "four"
    agent.write(address="@human/plan", content="new")
    agent.path("@human/caf\u00e9").unlink()
    assert all("problem" not in row for row in agent.list()["files"])
    assert agent.read(address="@human/caf\u00e9")["text"] == "three"


@pytest.mark.folder_home
def test_an_existing_name_that_a_new_note_could_not_get_can_be_changed(agent: Any) -> None:
    agent.put("@human/x", "x").rename(agent.home / "human" / "a?b.md")

    assert agent.addresses() == ["@human/a?b.md"]
    agent.write(address="@human/a?b", content="y")
    agent.update(address="@human/a?b", rename_to="@human/ab")
    assert agent.files() == ["human/ab.md"]


@pytest.mark.parametrize("address", ["@agents/you/a", "@models/other/a"])
def test_another_s_home_is_read_only(agent: Any, address: str) -> None:
    agent.put(address, "theirs")

    assert agent.read(address=address)["text"] == "theirs"
    assert agent.addresses(glob=f"{address.rpartition('/')[0]}/**") == [f"{address}.md"]
    assert agent.code("write", address=address, content="x") == "read_only_home"
    assert agent.code("update", address=address, archived=True) == "read_only_home"
    assert agent.code("update", address=address, rename_to="@human/a") == "read_only_home"
    agent.write(address="@human/b", content="x")
    assert agent.code("update", address="@human/b", rename_to=address) == "read_only_home"


# -- limits -----------------------------------------------------------------------


def test_one_limit_holds_on_every_path(agent: Any) -> None:
    agent.put("@human/big", "x" * 1_000_001)
    agent.write(address="@human/a", content="a")
    before = agent.bytes("@human/a")

    assert agent.code("write", address="@human/a", content="x" * 1_000_000) == "too_large"
    edits = [{"old_text": "a", "new_text": "x" * 1_000_000}]
    assert agent.code("update", address="@human/a", edits=edits) == "too_large"
    assert agent.code("update", address="@human/big", rename_to="@human/b") == "too_large"
    assert agent.code("update", address="@human/big", archived=True) == "too_large"
    assert agent.bytes("@human/a") == before
    assert agent.read(address="@human/big")["total_chars"] == 1_000_001
    agent.write(address="@human/big", content="small")


@pytest.mark.folder_home
def test_reading_has_a_limit_of_its_own(agent: Any) -> None:
    path = agent.put("@human/huge", "x")
    with path.open("r+b") as file:
        file.truncate(16 * 1024 * 1024 + 1)

    assert agent.code("read", address="@human/huge") == "too_large"
    assert agent.list()["files"][0]["problem"] == "too_large"
    assert agent.search(query="x")["unreadable"] == 1


def test_what_is_no_text_is_listed_and_refused(agent: Any) -> None:
    path = agent.put("@human/a", b"\xff\xfe\x00")

    assert agent.list()["files"][0]["problem"] == "not_text"
    for name, arguments in [
        ("read", {}), ("write", {"content": "x"}), ("update", {"archived": True}),
    ]:  # fmt: skip
        assert agent.code(name, address="@human/a", **arguments) == "not_text"
    assert path.read_bytes() == b"\xff\xfe\x00"


# -- faults -----------------------------------------------------------------------


def leftovers(agent: Any) -> list[str]:
    return [str(p) for p in agent.home.rglob("*") if "hindnote-tmp" in p.name]


@pytest.mark.folder_home
@pytest.mark.parametrize("function", ["fsync", "rename", "utime"])
def test_a_failing_disk_leaves_the_old_note_whole(
    agent: Any, monkeypatch: pytest.MonkeyPatch, function: str
) -> None:
    agent.write(address="@human/a", content="old")
    before = agent.bytes("@human/a")

    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(atomic.os, function, full)
    refusal = agent.refused("write", address="@human/a", content="new")

    assert refusal.code == "io_error"
    assert "No space left on device" in refusal.message
    assert agent.bytes("@human/a") == before
    assert leftovers(agent) == []


@pytest.mark.folder_home
def test_a_full_disk_leaves_no_folder_of_a_new_note(
    agent: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent.write(address="@human/a", content="old")

    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(atomic.os, "link", full)

    assert agent.code("write", address="@human/b/c", content="new") == "io_error"
    assert sorted(p.name for p in (agent.home / "human").iterdir()) == ["a.md"]


@pytest.mark.folder_home
def test_a_folder_that_may_not_be_written_is_said(
    agent: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent.write(address="@human/a", content="old")
    opened = os.open

    def denied(path: Any, flags: int, *args: Any, **kwargs: Any) -> int:
        if flags & os.O_CREAT and "hindnote-tmp" in str(path):
            raise PermissionError(13, "Permission denied")
        return opened(path, flags, *args, **kwargs)

    monkeypatch.setattr(atomic.os, "open", denied)

    assert "Permission denied" in agent.refused("write", address="@human/a", content="n").message
    assert agent.read(address="@human/a")["text"] == "old"


@pytest.mark.folder_home
@pytest.mark.parametrize(("failures", "code"), [(3, None), (99, "io_error")])
def test_a_rename_that_fails_for_a_moment_is_tried_again(
    agent: Any, monkeypatch: pytest.MonkeyPatch, failures: int, code: str | None
) -> None:
    agent.write(address="@human/a", content="old")
    replace, left, pauses = exchange.exchange, [failures], list[float]()

    def fragile(*args: Any, **kwargs: Any) -> None:
        if left[0]:
            left[0] -= 1
            raise PermissionError("a reader holds it")
        replace(*args, **kwargs)

    monkeypatch.setattr(exchange, "exchange", fragile)
    monkeypatch.setattr(atomic.time, "sleep", pauses.append)

    if code is None:
        agent.write(address="@human/a", content="new")
        assert agent.read(address="@human/a")["text"] == "new"
    else:
        assert agent.code("write", address="@human/a", content="new") == code
        assert agent.read(address="@human/a")["text"] == "old"
    assert 0 < sum(pauses) < 1
    assert leftovers(agent) == []


@pytest.mark.folder_home
def test_without_hard_links_a_new_note_is_still_written_once(
    agent: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unsupported(*_: Any, **__: Any) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(atomic.os, "link", unsupported)

    agent.write(address="@human/a", content="new")
    assert agent.read(address="@human/a")["text"] == "new"
    assert leftovers(agent) == []


def saving_in_between(monkeypatch: pytest.MonkeyPatch, path: Path, texts: list[str]) -> None:
    """Have a person save a file each time just before it gets its name, or another one."""

    def interrupt(module: Any, name: str) -> None:
        real = getattr(module, name)

        def interrupted(*args: Any, **kwargs: Any) -> None:
            if texts:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(texts.pop(0))
            real(*args, **kwargs)

        monkeypatch.setattr(module, name, interrupted)

    interrupt(exchange, "exchange")
    interrupt(exchange, "move")
    interrupt(os, "link")


@pytest.mark.folder_home
def test_an_edit_is_applied_afresh_to_what_a_person_saved_meanwhile(
    agent: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = agent.put("@human/a", "one two")
    saving_in_between(monkeypatch, path, ["one two three"])

    agent.update(address="@human/a", edits=[{"old_text": "two", "new_text": "2"}])

    assert agent.read(address="@human/a")["text"] == "one 2 three"


@pytest.mark.folder_home
def test_an_edit_that_no_longer_fits_is_refused(
    agent: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = agent.put("@human/a", "one two")
    saving_in_between(monkeypatch, path, ["something else"])

    edits = [{"old_text": "two", "new_text": "2"}]
    assert agent.code("update", address="@human/a", edits=edits) == "no_match"
    assert path.read_text() == "something else"


@pytest.mark.folder_home
def test_somebody_who_saves_again_and_again_wins(
    agent: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = agent.put("@human/a", "one")
    real, saves = exchange.exchange, list[str]()

    def interrupted(folder: int, one: str, other: str) -> None:
        # The exchange of an attempt, and not the one that gives the name back.
        if not path.read_text().startswith("---"):
            saves.append(f"save {len(saves)}")
            path.write_text(saves[-1])
        real(folder, one, other)

    monkeypatch.setattr(exchange, "exchange", interrupted)

    assert agent.code("update", address="@human/a", archived=True) == "changed"
    assert len(saves) > 1
    assert path.read_text() == saves[-1]
    assert leftovers(agent) == []


@pytest.mark.folder_home
def test_a_note_that_appears_meanwhile_is_not_lost(
    agent: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    saving_in_between(monkeypatch, agent.path("@human/a"), ["a person's"])

    refusal = agent.refused("write", address="@human/a", content="x", expected_version="absent")

    assert refusal.code == "changed"
    assert agent.bytes("@human/a") == b"a person's"


@pytest.mark.folder_home
def test_a_rename_whose_source_changes_meanwhile_takes_the_change_along(
    agent: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = agent.put("@human/a", "one")
    saving_in_between(monkeypatch, path, ["two"])

    agent.update(address="@human/a", rename_to="@human/b")

    assert agent.bytes("@human/b") == b"two"
    assert agent.files() == ["human/b.md"]


@pytest.mark.folder_home
def test_a_file_removed_between_read_and_write_is_not_brought_back_half(
    agent: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = agent.put("@human/a", "one")
    real = exchange.exchange

    def removed(*args: Any) -> None:
        path.unlink(missing_ok=True)
        real(*args)

    monkeypatch.setattr(exchange, "exchange", removed)

    assert agent.code("update", address="@human/a", archived=True) == "not_found"
    assert agent.files() == []
    agent.write(address="@human/a", content="new")
    assert agent.read(address="@human/a")["text"] == "new"


@pytest.mark.folder_home
def test_the_file_s_mode_is_kept(agent: Any) -> None:
    path = agent.put("@human/a", "x")
    path.chmod(0o640)

    agent.write(address="@human/a", content="y")
    agent.update(address="@human/a", rename_to="@human/b")

    assert agent.path("@human/b").stat().st_mode & 0o777 == 0o640


@pytest.mark.folder_home
@pytest.mark.skipif(os.geteuid() != 0, reason="only root may write for somebody else")
def test_a_note_keeps_its_owner_when_root_rewrites_it(agent: Any) -> None:
    path = agent.put("@human/a", "x")
    os.chown(path, 1234, 2345)

    agent.write(address="@human/a", content="y")
    agent.update(address="@human/a", edits=[{"old_text": "y", "new_text": "z"}])
    agent.update(address="@human/a", rename_to="b")

    status = agent.path("b").stat()
    assert (status.st_uid, status.st_gid) == (1234, 2345)


@pytest.mark.folder_home
def test_a_note_whose_owner_root_cannot_keep_is_not_written(
    agent: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a network file system that takes root for nobody."""
    agent.put("@human/a", "old")

    def refused(*_: Any) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(os, "fchown", refused)

    assert "not permitted" in agent.refused("write", address="@human/a", content="new").message
    assert agent.bytes("@human/a") == b"old"
    assert leftovers(agent) == []


WRITES = {
    "write": {"address": "@human/a", "content": "y"},
    "create": {"address": "@human/b", "content": "y"},
    "edit": {"address": "@human/a", "edits": [{"old_text": "x", "new_text": "y"}]},
    "archive": {"address": "@human/a", "archived": True},
    "rename away": {"address": "@human/a", "rename_to": "b"},
    "rename here": {"address": "b", "rename_to": "@human/b"},
}


@pytest.mark.folder_home
@pytest.mark.parametrize("way", WRITES)
def test_what_a_killed_writer_left_goes_with_the_next_write_of_any_kind(
    agent: Any, way: str
) -> None:
    path = agent.put("@human/a", "x")
    agent.put("@human/stays", "x")
    if way == "rename here":
        agent.put("b", "x")
    left = path.with_name(f".{'0' * 16}.hindnote-tmp")
    left.write_text("half")

    name = "write" if "content" in WRITES[way] else "update"
    getattr(agent, name)(**WRITES[way])

    assert leftovers(agent) == []
    assert left.with_name("stays.md").read_text() == "x"


@pytest.mark.folder_home
def test_an_empty_gitignore_of_a_full_disk_is_written_again(agent: Any) -> None:
    agent.write(address="@human/a", content="x")
    (agent.home / ".hindnote/.gitignore").write_bytes(b"")

    agent.write(address="@human/a", content="y")

    assert (agent.home / ".hindnote/.gitignore").read_bytes() == b"*\n"


@pytest.mark.folder_home
@pytest.mark.parametrize("target", ["@human/b", "b", "@project/b"])
@pytest.mark.parametrize("killed", ["copied", "linked"])
def test_a_rename_that_was_killed_with_both_names_there_is_finished_by_the_next(
    agent: Any, target: str, killed: str
) -> None:
    agent.write(address="@human/a", content="body")
    source = agent.path("@human/a")
    if killed == "linked":
        agent.path(target).parent.mkdir(parents=True, exist_ok=True)
        agent.path(target).hardlink_to(source)
        agent.update(address="@human/a", rename_to=target)
    else:
        status, before = source.stat(), source.read_bytes()
        agent.update(address="@human/a", rename_to=target)
        source.write_bytes(before)
        os.utime(source, ns=(status.st_atime_ns, status.st_mtime_ns))
        agent.update(address="@human/a", rename_to=target)

    assert not source.exists()
    assert agent.read(address=target)["text"] == "body"


@pytest.mark.parametrize("target", ["Plans.md/c", "plans.md/c"])
def test_a_note_cannot_be_moved_into_a_folder_of_its_own_name(agent: Any, target: str) -> None:
    agent.write(address="@human/Plans", content="body")

    code = agent.code("update", address="@human/Plans", rename_to=f"@human/{target}")

    assert code == "address_collision"
    assert agent.files() == ["human/Plans.md"]


def test_a_rename_onto_an_equal_note_is_no_killed_rename(agent: Any) -> None:
    agent.put("@human/a", "same")
    agent.put("@human/b", "same", 1)

    assert agent.code("update", address="@human/a", rename_to="@human/b") == "already_exists"
    assert agent.files() == ["human/a.md", "human/b.md"]


@pytest.mark.folder_home
def test_a_rename_that_fails_at_last_leaves_the_note_as_it_was(
    agent: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent.write(address="@human/a", content="body")
    before = agent.bytes("@human/a")

    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(exchange, "move", full)

    assert agent.code("update", address="@human/a", rename_to="b") == "io_error"
    assert agent.bytes("@human/a") == before
    assert agent.files() == ["human/a.md"]


@pytest.fixture
def another_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each folder lie on a disk of its own."""
    real = exchange.move

    def other_disk(folder: int, name: str, new_folder: int, new_name: str) -> None:
        if not os.path.samestat(os.fstat(folder), os.fstat(new_folder)):
            raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
        real(folder, name, new_folder, new_name)

    monkeypatch.setattr(exchange, "move", other_disk)


@pytest.mark.usefixtures("another_disk")
def test_a_note_moves_to_a_folder_on_another_disk(agent: Any) -> None:
    agent.write(address="@human/a", content="body")

    agent.update(address="@human/a", rename_to="b")

    assert agent.read(address="b")["text"] == "body"
    assert len(agent.files()) == 1


@pytest.mark.folder_home
@pytest.mark.usefixtures("another_disk")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root may write for somebody else")
def test_a_note_keeps_its_owner_when_root_moves_it_to_another_disk(agent: Any) -> None:
    os.chown(agent.put("@human/a", "x"), 1234, 2345)

    agent.update(address="@human/a", rename_to="b")

    status = agent.path("b").stat()
    assert (status.st_uid, status.st_gid) == (1234, 2345)


@pytest.mark.parametrize(
    "name", ["CON", "nul.txt", "COM1", "plans/aux", "a\u200bb", "pay\u202efdp", "\ufeffplan"]
)
def test_a_new_note_gets_no_name_that_others_cannot_hold_or_see(agent: Any, name: str) -> None:
    assert agent.code("write", address=f"@human/{name}", content="x") == "invalid_address"
    agent.write(address="@human/a", content="x")
    assert agent.code("update", address="@human/a", rename_to=f"@human/{name}") == "invalid_address"
    assert agent.files() == ["human/a.md"]


@pytest.mark.parametrize("name", ["CON", "a\u200bb", "pay\u202efdp"])
def test_a_note_that_has_such_a_name_can_be_read_changed_and_renamed(agent: Any, name: str) -> None:
    agent.put(f"@human/{name}", "one")

    assert agent.read(address=f"@human/{name}")["text"] == "one"
    agent.write(address=f"@human/{name}", content="two")
    agent.update(address=f"@human/{name}", rename_to="@human/plain")

    assert agent.read(address="@human/plain")["text"] == "two"


@pytest.mark.folder_home
def test_a_held_lock_is_said(agent: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from hindnote.core.notes import locks

    monkeypatch.setattr(locks, "WAIT_SECONDS", 0.05)
    with locks.locked(agent.home, ("human",)):
        assert agent.code("write", address="@human/a", content="x") == "locked"
    agent.write(address="@human/a", content="x")


@pytest.mark.folder_home
def test_the_store_s_folder_is_hidden_from_git_and_no_link(agent: Any, tmp_path: Path) -> None:
    agent.write(address="@human/a", content="x")
    state = agent.home / ".hindnote"
    assert (state / ".gitignore").read_text() == "*\n"

    state.rename(tmp_path / "elsewhere")
    state.symlink_to(tmp_path / "elsewhere")
    assert agent.code("write", address="@human/b", content="x") == "outside_home"


@pytest.mark.folder_home
@pytest.mark.parametrize("kind", ["link", "folder"])
def test_what_is_no_lock_in_a_locks_place_is_named_and_left_alone(
    agent: Any, tmp_path: Path, kind: str
) -> None:
    agent.write(address="@human/a", content="old")
    before = agent.bytes("@human/a")
    (lock,) = (agent.home / ".hindnote/locks").glob("*.lock")
    outside = tmp_path / "outside"
    outside.write_text("theirs")
    lock.unlink()
    if kind == "link":
        lock.symlink_to(outside)
    else:
        lock.mkdir()

    refusal = agent.refused("write", address="@human/a", content="new")

    assert refusal.code == "io_error"
    assert f"{lock.name}” is not a regular file" in refusal.message
    assert agent.bytes("@human/a") == before
    assert outside.read_text() == "theirs"
    assert os.path.lexists(lock)


@pytest.mark.folder_home
@pytest.mark.parametrize("place", [".hindnote", ".hindnote/locks"])
def test_a_file_in_the_place_of_our_folder_is_named(agent: Any, place: str) -> None:
    file = agent.home / place
    file.parent.mkdir(parents=True)
    file.touch()

    refusal = agent.refused("write", address="@human/a", content="new")

    assert refusal.code == "io_error"
    assert f"{place}” is not a folder; remove it" in refusal.message
    agent.put("@human/a", "body")
    assert agent.read(address="@human/a")["text"] == "body"


@pytest.mark.folder_home
def test_a_lock_that_cannot_be_had_is_named(agent: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import fcntl

    def refuse(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(fcntl, "flock", refuse)

    refusal = agent.refused("write", address="@human/a", content="new")

    assert refusal.code == "io_error"
    assert "the lock " in refusal.message
    assert "No space left on device" in refusal.message


@pytest.mark.folder_home
def test_no_lock_is_made_through_a_link(agent: Any, tmp_path: Path) -> None:
    agent.write(address="@human/a", content="x")
    locks = agent.home / ".hindnote" / "locks"
    locks.rename(tmp_path / "elsewhere")
    held = sorted((tmp_path / "elsewhere").iterdir())
    locks.symlink_to(tmp_path / "elsewhere")

    assert agent.code("write", address="@project/b", content="x") == "outside_home"
    assert sorted((tmp_path / "elsewhere").iterdir()) == held


def test_half_a_character_in_a_block_is_shown_as_lost_and_kept_as_it_is(agent: Any) -> None:
    block = r'half: "\ud800"' + "\n" + r'"whole \ud83d\ude00": x'
    agent.put("@human/a", f"---\n{block}\n---\nbody")

    extra = agent.read(address="@human/a")["metadata"]["extra"]
    agent.update(address="@human/a", origin="external")

    assert extra == {"half": "\ufffd", "whole 😀": "x"}
    assert block in agent.bytes("@human/a").decode()


@pytest.mark.parametrize(("block", "given"), [("a: 1", "{b: 2}"), ("  a: 1", "b: 2")])
def test_a_merge_that_fails_says_that_content_can_be_changed(
    agent: Any, block: str, given: str
) -> None:
    agent.put("@human/a", f"---\n{block}\n---\nold")

    refusal = agent.refused("write", address="@human/a", content=f"---\n{given}\n---\nnew")

    assert refusal.code == "invalid_frontmatter"
    assert "write content without frontmatter" in refusal.message
