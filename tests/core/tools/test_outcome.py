from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindnote.core.errors import REFUSAL_CODES, Refusal, Refused
from hindnote.core.text.messages import MESSAGE_LIMIT, QUOTE_LIMIT, one_line, quote
from hindnote.core.tools.outcome import Result, Success, envelope, render_refusal, wire, wire_json


class Found(Result):
    address: str
    next: int | None
    archived_at: str | None = None
    score: float | None = None


FOUND = Success(Found(address="a.md", next=None), extras={"before": "x"})
NOT_FOUND = Refusal("not_found", "no note a.md")


def test_a_success_stands_at_the_root_with_its_unset_fields_absent() -> None:
    assert wire(FOUND) == {"address": "a.md", "next": None}


def test_a_refusal_is_flat() -> None:
    assert wire(NOT_FOUND) == {"error": "no note a.md", "code": "not_found"}


def test_extras_are_in_no_representation() -> None:
    assert "before" not in json.dumps([wire(FOUND), envelope(FOUND)])


def test_the_envelope_tells_success_from_refusal() -> None:
    assert envelope(FOUND) == {"ok": True, "data": {"address": "a.md", "next": None}}
    assert envelope(NOT_FOUND) == {
        "ok": False,
        "error": {"code": "not_found", "message": "no note a.md"},
    }


@given(st.text(), st.integers(-(2**53), 2**53))
def test_the_compact_json_of_a_success_is_its_wire_form(address: str, number: int) -> None:
    result = Found(address=address.encode(errors="replace").decode(), next=number)

    text = wire_json(result)

    assert json.loads(text) == wire(Success(result))
    assert text == json.dumps(wire(Success(result)), ensure_ascii=False, separators=(",", ":"))


def test_a_refusal_renders_as_one_line() -> None:
    assert render_refusal(NOT_FOUND) == "error: not_found: no note a.md"


@given(st.text(max_size=50))
def test_a_message_is_one_line_whatever_was_quoted(quoted: str) -> None:
    message = Refused("not_found", f"no note {quoted}").refusal.message

    assert len(message.splitlines()) == 1


def test_quoted_input_is_cut_before_facts_are() -> None:
    message = Refused("not_found", f"no note {quote('x' * 5_000)}; there is b.md").refusal.message

    assert message.endswith("; there is b.md")
    assert len(quote("x" * 5_000)) == QUOTE_LIMIT + 2


def test_a_message_is_cut_at_its_limit_and_says_so() -> None:
    line = one_line("x" * 5_000)

    assert len(line) == MESSAGE_LIMIT
    assert line.endswith("…")


def test_a_refusal_carries_its_code_through_the_exception() -> None:
    with pytest.raises(Refused) as caught:
        raise Refused("locked", "held")

    assert caught.value.code == "locked"


@pytest.mark.parametrize("change", [{"address": "b"}, {"other": 1}])
def test_a_result_is_closed_and_frozen(change: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="frozen|Extra"):
        Found.model_validate({"address": "a", "next": None, **change, "more": 1})


def test_a_code_is_plain_words() -> None:
    assert all(code.replace("_", "").isalpha() and code.islower() for code in REFUSAL_CODES)
