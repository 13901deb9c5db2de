"""What holds for all five: arguments, declarations, the directory, and any file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hindnote.core.tools.operation import ArgumentError
from hindnote.core.tools.outcome import Success
from hindnote.core.tools.registry import registry
from hindnote.core.tools.schema import declaration

OPERATIONS = [operation for operation in registry().values() if operation.family == "notes"]


@pytest.mark.folder_home
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
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
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
