"""What the five operations answer: views, windows, searches, bounds and both forms."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hindnote.core.budget import OUTPUT_BUDGET_BYTES
from hindnote.core.declarations import declaration
from hindnote.core.notes import catalogue
from hindnote.core.notes.facts import Facts, Problem
from hindnote.core.notes.operations.matches import MATCHES_SHOWN
from hindnote.core.operation import ArgumentError
from hindnote.core.outcome import Success
from hindnote.core.registry import registry

OPERATIONS = [operation for operation in registry().values() if operation.family == "notes"]


def at(path: Path, second: int) -> None:
    os.utime(path, (1_700_000_000 + second,) * 2)


# -- lists ------------------------------------------------------------------------


def test_a_list_shows_the_five_homes_newest_first_then_by_address(agent: Any) -> None:
    for address, second in [
        ("s", 1), ("@project/p", 5), ("@human/b", 3), ("@human/a", 3), ("@self/m", 4),
        ("@model/m", 2), ("@agents/you/x", 9),
    ]:  # fmt: skip
        at(agent.put(address, "body"), second)

    assert agent.addresses() == [
        "@project/p.md", "@self/m.md", "@human/a.md", "@human/b.md", "@model/m.md", "s.md",
    ]  # fmt: skip


def test_a_row_says_what_a_note_is_in_both_forms(agent: Any) -> None:
    at(agent.put("@project/a", "---\narchivedAt: '2024-01-01 why'\n---\né部\r\n"), 0)

    row = agent.list(archived=True)["files"][0]

    key = agent.store.homes.project_key
    assert row == {
        "address": "@project/a.md",
        "project_key": key,
        "updated_at": row["updated_at"],
        "archived_at": "2024-01-01 why",
        "total_chars": 4,
    }
    line = (
        f"@project/a.md | {row['updated_at']} | 4 chars | project {key} | archived 2024-01-01 why"
    )
    assert agent.text.splitlines() == ["1 note", line]


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


def test_a_folder_of_homes_that_cannot_be_opened_is_named(agent: Any, tmp_path: Path) -> None:
    agent.put("@human/a", "x")
    (tmp_path / "elsewhere").mkdir()
    (agent.home / "agents").symlink_to(tmp_path / "elsewhere")

    assert agent.list(glob="@agents/**")["homes_unavailable"] == ["@agents"]
    assert agent.list(glob="@models/**")["homes_unavailable"] == []


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


@pytest.mark.parametrize("key", ["archivedAt", "origin", "project", "updatedAt", "x"])
@pytest.mark.parametrize(
    "value", ["z" * 20_000, "[a, b]", "{a: 1}", "true", '"\\x07\\n"', "&a x", "*x"]
)
def test_no_value_hides_other_notes_or_the_note_itself(agent: Any, key: str, value: str) -> None:
    agent.put("odd", f"---\n{key}: {value}\n---\nbody")
    agent.put("@human/good", "body")

    for archived in (False, True):
        agent.list(archived=archived)
        agent.search(query="body", archived=archived)
    assert "@human/good.md" in agent.addresses()
    assert agent.read(address="odd")["text"] == "body"
    assert agent.text.endswith("\n\nbody")


PIECES = [b"---\n", b"---\r\n", b"---", b"\xef\xbb\xbf", b"a: 1\n", b"origin: self\n", b"b: [", b"\n",
          b"archivedAt: 2024-01-01\n", b"\xff", b"\xe2\x80\xa8", b"- x\n", b"body", b"a: b: c\n",
          b"\r\n", b"updatedAt: 9999-12-31\n", b"createdAt: -1\n", b"? x\n", b"\x00", b"<<: *a\n"]  # fmt: skip


@given(
    st.lists(st.sampled_from(PIECES), max_size=8).map(b"".join), st.sampled_from(["a", "@human/a"])
)
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_no_file_makes_an_operation_crash(agent: Any, data: bytes, address: str) -> None:
    agent.put(address, data)

    agent.list()
    agent.search(query="b")
    outcome = agent.outcome("notes_read", address=address)
    if isinstance(outcome, Success):
        before = outcome.data.text
        for arguments in ({"archived": True}, {"origin": "external"}, {"archived": False}):
            agent.outcome("notes_update", address=address, **arguments)
            assert agent.read(address=address)["text"] == before
        agent.outcome("notes_update", address=address, rename_to="@project/b")
        assert agent.read(address="@project/b")["text"] == before
        assert agent.write(address="@project/b", content="new")["outcome"] in {
            "overwrote",
            "restored",
        }
        assert agent.read(address="@project/b")["text"] == "new"
        agent.path("@project/b").unlink()
    else:
        assert outcome.code == "not_text"


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
    return catalogue.contents(agent.store.tree, agent.store.homes.default()).notes


def test_folders_too_deep_for_an_address_are_counted(agent: Any) -> None:
    folder = agent.put("@human/a", "x").parent
    for _ in range(300):
        folder /= "d"
    folder.mkdir(parents=True)

    assert agent.list()["unreadable"] == 1


# -- projects ---------------------------------------------------------------------


def test_the_call_s_directory_decides_the_project_and_nothing_else(
    agent: Any, tmp_path: Path
) -> None:
    """The resolver is the core's and has its own tests; here stands what it decides."""
    agent.write(address="@project/a", content="shop")
    agent.write(address="s", content="session")
    home, shop = agent.home, agent.store.homes.project_key
    agent.cwd = tmp_path / "other"
    agent.cwd.mkdir()

    other = agent.store.homes.project_key
    assert other != shop
    assert agent.addresses() == ["s.md"]
    assert agent.addresses(glob="@project/**") == []
    assert agent.code("read", address="@project/a") == "not_found"
    assert agent.write(address="@project/a", content="other")["project_key"] == other
    agent.write(address="t", content="session")
    assert agent.read(address="t")["metadata"]["project"] == other
    assert agent.read(address="s")["metadata"]["project"] == shop
    assert agent.read(address="@project/a")["project_key"] == other
    assert agent.home == home
    assert agent.path("s").parent == agent.path("t").parent


# -- reads ------------------------------------------------------------------------


def test_a_read_shows_metadata_above_the_payload(agent: Any) -> None:
    agent.put("@human/a", "---\ntags: [a]\n---\nline one\nline two")

    read = agent.read(address="@human/a", limit_chars=8)

    assert read["text"] == "line one"
    assert (read["total_chars"], read["next_offset_chars"]) == (17, 8)
    head, payload = agent.text.split("\n\n", 1)
    assert payload == "line one\n[truncated; continue at offset_chars=8]"
    for fact in ("@human/a.md", read["metadata"]["version"], "17 chars", "origin user"):
        assert fact in head
    assert 'extra: {"tags": ["a"]}' in head
    agent.read(address="@human/a")
    assert agent.text.endswith("\n\nline one\nline two")


def test_an_offset_past_the_end_is_refused_with_the_legal_maximum(agent: Any) -> None:
    agent.put("@human/a", "abc")

    refusal = agent.refused("read", address="@human/a", offset_chars=4)
    assert refusal.code == "invalid_offset"
    assert "3" in refusal.message
    assert agent.read(address="@human/a", offset_chars=3)["text"] == ""
    assert agent.read(address="@human/a", offset_chars=-2)["text"] == "bc"
    assert agent.read(address="@human/a", offset_chars=-9)["text"] == "abc"


@given(
    body=st.text(st.sampled_from('aé👩\u200d\u0301\r\n\\"\x00'), max_size=60),
    limit=st.integers(1, 20),
)
@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_windows_rejoin_to_the_body(agent: Any, body: str, limit: int) -> None:
    agent.write(address="@human/a", content=body)
    offset, parts = 0, []
    while offset is not None:
        read = agent.read(address="@human/a", offset_chars=offset, limit_chars=limit)
        assert read["total_chars"] == len(body)
        parts.append(read["text"])
        offset = read["next_offset_chars"]

    assert "".join(parts) == body


@pytest.mark.parametrize("unit", ["é", "\x01", "👩\u200d👩\u200d👧é", '"\\'])
def test_a_large_body_is_delivered_in_windows_that_fit(agent: Any, unit: str) -> None:
    body = unit * 40_000
    agent.put("@human/a", body)
    offset, parts = 0, []
    while offset is not None:
        read = agent.read(address="@human/a", offset_chars=offset, limit_chars=50_000)
        parts.append(read["text"])
        offset = read["next_offset_chars"]

    assert "".join(parts) == body


def test_large_foreign_values_are_named_in_place(agent: Any) -> None:
    block = f"big: {'x' * 1100}\n" + "".join(f"k{n}: {'y' * 600}\n" for n in range(5)) + "z: 1\n"
    agent.put("@human/a", f"---\n{block}---\nbody")

    extra = agent.read(address="@human/a")["metadata"]["extra"]

    assert list(extra) == ["big", "k0", "k1", "k2", "k3", "k4", "z"]
    assert [key for key, value in extra.items() if value == "[omitted: too large]"] == [
        "big", "k3", "k4",
    ]  # fmt: skip
    assert extra["z"] == 1
    assert "[omitted: too large]" in agent.text


def test_metadata_that_leaves_no_room_is_refused(agent: Any) -> None:
    block = "".join(f"key{n:05}: 1\n" for n in range(4_000))
    agent.put("@human/a", f"---\n{block}---\nbody")

    assert agent.code("read", address="@human/a") == "output_too_large"


def test_counts_of_an_earlier_tool_show_nowhere(agent: Any) -> None:
    source = "---\nlastAccessed: 2024-01-01\naccessCount: 7\n---\nbody"
    agent.put("@human/a", source)

    assert "extra" not in agent.read(address="@human/a")["metadata"]
    assert "ccess" not in agent.text
    agent.update(address="@human/a", archived=True)
    assert agent.bytes("@human/a").decode().startswith(source.removesuffix("---\nbody"))


def test_reads_change_neither_files_nor_order(agent: Any) -> None:
    for number, source in enumerate(["body", "---\ntitle: a: b\n---\nbody"]):
        at(agent.put(f"@human/{number}", source), number)
    before = [(agent.bytes(f"@human/{n}"), agent.path(f"@human/{n}").stat()) for n in (0, 1)]
    order = agent.addresses()

    for _ in range(10):
        agent.read(address="@human/0")
        agent.search(query="body")

    assert agent.addresses() == order
    after = [(agent.bytes(f"@human/{n}"), agent.path(f"@human/{n}").stat()) for n in (0, 1)]
    assert [(data, stat.st_mtime_ns) for data, stat in after] == [
        (data, stat.st_mtime_ns) for data, stat in before
    ]


# -- searches ---------------------------------------------------------------------


def test_a_search_finds_lines_with_exact_offsets(agent: Any) -> None:
    agent.put("@human/a", "---\nneedle: not here\n---\nİİİİ needle\r\nnothing\r\nẞẞ NEEDLE needle")

    row = agent.search(query="Needle")["files"][0]

    assert row["matches_total"] == 2
    assert row["matches"] == [
        {"line": 1, "offset_chars": 5, "text": "İİİİ needle"},
        {"line": 3, "offset_chars": 25, "text": "ẞẞ NEEDLE needle"},
    ]
    body = agent.read(address="@human/a")["text"]
    assert body[25:31] == "NEEDLE"
    agent.search(query="Needle")
    assert "  3 (offset_chars 25): ẞẞ NEEDLE needle" in agent.text
    assert "2 matching lines" in agent.text


def test_any_of_several_literals_matches(agent: Any) -> None:
    agent.put("@human/a", "部署失败后回滚")
    agent.put("@human/b", "cafe\u0301 [x]")

    assert len(agent.search(query=["回滚", "", "nothing"])["files"]) == 1
    assert len(agent.search(query=["caf\u00e9"])["files"]) == 1
    assert len(agent.search(query="[x]")["files"]) == 1
    assert agent.search(query="nothing")["files"] == []


@pytest.mark.parametrize("query", [None, "", [], ["", ""]])
def test_without_a_query_the_notes_in_scope_come_back(agent: Any, query: Any) -> None:
    agent.put("@human/a", "one\ntwo")

    row = agent.search(query=query)["files"][0]

    assert (row["matches_total"], row["matches"]) == (0, [])


def test_many_matching_lines_are_counted_and_the_first_shown(agent: Any) -> None:
    agent.put("@human/a", "needle\n" * 5_000)

    row = agent.search(query="needle")["files"][0]

    assert (row["matches_total"], len(row["matches"])) == (5_000, MATCHES_SHOWN)
    assert f"5000 matching lines, the first {MATCHES_SHOWN} here" in agent.text


def test_a_match_line_that_cannot_fit_is_cut_to_the_longest_prefix(agent: Any) -> None:
    line = "needle " + "é" * 60_000
    agent.put("@human/a", f"{line}\nneedle")

    found = agent.search(query="needle")
    (match,) = found["files"][0]["matches"]

    assert match["truncated"] is True
    assert match["text"].endswith(" [truncated]")
    assert line.startswith(match["text"].removesuffix(" [truncated]"))
    assert found["files"][0]["matches_total"] == 2
    sizes = [len(agent.text.encode()), len(json.dumps(found, ensure_ascii=False).encode())]
    assert max(sizes) > OUTPUT_BUDGET_BYTES - 60


def test_fewer_matches_come_before_a_cut_one(agent: Any) -> None:
    agent.put("@human/a", "\n".join("needle " + "x" * 9_000 for _ in range(6)))

    row = agent.search(query="needle")["files"][0]

    assert (row["matches_total"], len(row["matches"])) == (6, 3)
    assert all("truncated" not in match for match in row["matches"])


def test_rows_behind_the_first_are_dropped_whole(agent: Any) -> None:
    at(agent.put("@human/a", "needle " + "x" * 20_000), 3)
    at(agent.put("@human/b", "needle " + "x" * 20_000), 2)
    at(agent.put("@human/c", "needle"), 1)

    found = agent.search(query="needle")

    assert [row["address"] for row in found["files"]] == ["@human/a.md"]
    assert found["more"] == 2


# -- arguments and declarations ----------------------------------------------------


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("list", {"glob": 1}),
        ("list", {"limit": 0}),
        ("list", {"limit": 1001}),
        ("list", {"unknown": 1}),
        ("search", {"query": {"a": 1}}),
        ("search", {"query": [1]}),
        ("read", {}),
        ("read", {"address": "a", "limit_chars": 50_001}),
        ("read", {"address": "a", "offset_chars": 1.5}),
        ("write", {"address": "a"}),
        ("write", {"address": "a", "content": "x", "origin": "elsewhere"}),
        ("update", {"address": "a", "edits": [{"old_text": "x"}]}),
        ("update", {"address": "a", "edits": "x"}),
        ("update", {"address": "a", "archived": "yes"}),
    ],
)
def test_bad_arguments_are_no_refusal(agent: Any, name: str, arguments: dict[str, Any]) -> None:
    with pytest.raises(ArgumentError):
        agent.outcome(f"notes_{name}", **arguments)


def test_null_counts_as_omitted_and_a_whole_float_as_an_integer(agent: Any) -> None:
    agent.put("@human/a", "abc")

    assert agent.read(address="@human/a", offset_chars=1.0, limit_chars=None)["text"] == "bc"
    assert agent.list(glob=None, archived=None, limit=5.0)["more"] == 0


def test_lone_surrogates_in_content_are_replaced(agent: Any) -> None:
    agent.write(address="@human/a", content="x\udc88y")

    assert agent.read(address="@human/a")["text"] == "x\ufffdy"


def test_every_operation_takes_a_directory_and_refuses_a_bad_one() -> None:
    for operation in OPERATIONS:
        assert "cwd" in operation.params.model_fields
        assert "invalid_cwd" in operation.codes


def test_declarations_stay_small() -> None:
    """A host may list the declarations of all seven in about 3,000 tokens."""
    declarations = [declaration(operation) for operation in OPERATIONS]

    assert all(len(each["description"]) < 2_048 for each in declarations)
    assert len(json.dumps(declarations, separators=(",", ":"))) < 11_000


def test_codes_are_those_of_the_family() -> None:
    declared = set().union(*(operation.codes for operation in OPERATIONS))

    assert " ".join(sorted(declared)) == (
        "address_collision already_exists ambiguous_edit changed invalid_address invalid_cwd "
        "invalid_frontmatter invalid_glob invalid_offset io_error locked no_current_session "
        "no_match not_found not_text nothing_to_do output_too_large outside_home read_only_home "
        "too_large"
    )


def test_rows_know_every_problem_there_is() -> None:
    assert set(get_args(Problem)) == {
        "invalid_frontmatter", "not_text", "too_large", "shadowed",
    }  # fmt: skip


@given(
    notes=st.lists(
        st.tuples(
            st.text(st.sampled_from("abé部 -"), min_size=1, max_size=30),
            st.text(st.sampled_from('n "\n\x01é'), max_size=4_000),
        ),
        max_size=12,
    ),
    query=st.sampled_from([None, "n", "é"]),
)
@settings(
    max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_both_forms_fit_for_any_notes(
    agent: Any, notes: list[tuple[str, str]], query: str | None
) -> None:
    """The agent of the tests measures every answer."""
    for number, (name, body) in enumerate(notes):
        agent.put(f"@human/x{name.strip()}{number}", body * 5)

    found = agent.search(query=query)
    for row in found["files"]:
        assert row["address"] in agent.text
        for match in row["matches"]:
            assert match["text"] in agent.text
