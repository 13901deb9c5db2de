"""Hypothesis strategies: sessions of every shape, and the calls that list them."""

from __future__ import annotations

from typing import Any

from fake_sessions import SessionBuilder, nested
from hypothesis import strategies as st

WORDS = ("alpha", "Beta", "gamma", "x")
TIMES = (None, "2026-11-30T09:00:00Z", "2026-11-30T11:30:00+02:00", "2026-12-01T00:00:00.000Z")

steps = st.lists(
    st.tuples(
        st.sampled_from(
            [
                "user",
                "answer",
                "silent",
                "call",
                "call",
                "result",
                "result",
                "context",
                "command",
                "nothing",
            ]
        ),
        st.sampled_from(WORDS),
        st.sampled_from(TIMES),
        st.sampled_from(["id1", "id2", "id3"]),
    ),
    max_size=30,
)


def apply(builder: SessionBuilder, made: list[tuple[str, str, str | None, str]]) -> None:
    """Add the slots of some steps to a session."""
    for what, word, at, call_id in made:
        if what in ("user", "context", "command"):
            getattr(builder, what)(f"{word} said", created_at=at)
        elif what == "answer":
            builder.answer(f"{word} answered", created_at=at)
        elif what == "silent":
            builder.answer(created_at=at)
        elif what == "call":
            if builder.answered:
                tool = "notes_search" if word == "x" else word
                builder.call(call_id, tool, f'{{"q":"{word}"}}', created_at=at)
        elif what == "result":
            record = nested("notes_list") if word == "x" else None
            builder.result(call_id, word, created_at=at, nested=record)
        else:
            builder.nothing()


filters = st.fixed_dictionaries(
    {},
    optional={
        "query": st.one_of(
            st.sampled_from(["", "alpha", "BETA", "said", "nowhere"]),
            st.just([]),
            st.just(["", "gamma", "alpha"]),
        ),
        "roles": st.lists(st.sampled_from(["user", "assistant", "tool", "context"]), max_size=2),
        "since": st.sampled_from(["2026-11-30T09:30:00Z", "2026-11-30"]),
        "until": st.sampled_from(["2026-11-30T09:30:00Z", "2026-11-30T23:00:00Z"]),
        "limit": st.integers(1, 5),
        "max_chars_per_item": st.sampled_from([1, 5, 1200]),
    },
)

# Everything that is wide in UTF-8, wide in JSON, or looks like part of a rendering.
WIDE = st.sampled_from(["\x00", "\U0001f469", '"', "\n", "é", "\u2028", "seq 1 | user\n", "a b c "])


@st.composite
def wide_texts(draw: Any) -> str:
    return draw(WIDE) * draw(st.integers(0, 14_000))
