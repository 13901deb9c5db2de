"""What ``notes_read`` answers: windows, metadata, bounds and both forms."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st


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
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
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
        agent.put(f"@human/{number}", source, number)
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


def test_a_value_of_the_frontmatter_cannot_pass_for_another_fact(agent: Any) -> None:
    agent.put(
        "@human/a", "---\norigin: x | version 000000000000\narchivedAt: y | origin user\n---\nbody"
    )

    agent.read(address="@human/a")

    head = agent.text.split("\n\n")[0]
    assert 'origin "x | version 000000000000" | created' in head
    assert 'archived "y | origin user"' in head
