"""Which sessions a transcript was forked from."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hindnote.hosts.claude.format.lineage import FIRST_WITHIN, Lineage, Origin, find_lineage


def lineage(*rows: dict[str, Any] | bytes) -> Lineage:
    lines = (row if isinstance(row, bytes) else json.dumps(row).encode() for row in rows)
    data = b"".join(line + b"\n" for line in lines)
    return find_lineage("own", lambda start, size: data[start : start + size], len(data))


def user(second: int, **more: Any) -> dict[str, Any]:
    return {"type": "user", "timestamp": f"2026-11-30T09:00:{second:02}Z", **more}


def answer(second: int, **more: Any) -> dict[str, Any]:
    return user(second) | {"type": "assistant", **more}


def test_a_session_with_an_answer_of_its_own_first_was_not_forked() -> None:
    assert lineage(user(1), answer(2), answer(3, requestSessionId="a")) == Lineage((), True)


def test_the_fork_of_a_fork_names_its_line_nearest_first() -> None:
    found = lineage(
        user(1),
        answer(2, requestSessionId="a"),
        user(3),
        answer(4, requestSessionId="a"),
        user(10),
        answer(11, requestSessionId="b"),
        user(20),
        answer(21),
        user(30),
    )

    assert found.ancestors == (
        Origin("b", "2026-11-30T09:00:20Z"),
        Origin("a", "2026-11-30T09:00:10Z"),
    )
    assert found.is_final


def test_older_versions_mark_every_copied_row() -> None:
    copied = {"forkedFrom": {"sessionId": "a", "messageUuid": "m"}}

    found = lineage(user(1, **copied), answer(2, **copied), user(9), answer(10))

    assert found.ancestors == (Origin("a", "2026-11-30T09:00:09Z"),)


def test_a_fork_that_wrote_nothing_of_its_own_yet_may_still_change() -> None:
    found = lineage(user(1), answer(2, requestSessionId="a"))

    assert found == Lineage((Origin("a", None),), is_final=False)


@pytest.mark.parametrize("row", [answer(1, requestSessionId="own"), user(1, requestSessionId=5)])
def test_a_row_of_the_session_s_own_is_no_copy(row: dict[str, Any]) -> None:
    assert lineage(row).ancestors == ()


def test_a_file_of_zero_bytes_is_given_up_early() -> None:
    reads = []

    def read(start: int, size: int) -> bytes:
        reads.append(size)
        return bytes(size)

    assert find_lineage("own", read, 10 << 30) == Lineage((), is_final=True)
    assert sum(reads) <= FIRST_WITHIN
