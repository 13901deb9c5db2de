from __future__ import annotations

from hindnote.core.history.recent import Recent


def test_what_was_asked_for_lately_is_not_made_again() -> None:
    made: list[str] = []

    def make(key: str) -> str:
        made.append(key)
        return key.upper()

    recent: Recent[str, str] = Recent(limit=2)

    assert [recent.get(key, make) for key in "abacab"] == [*"ABACAB"]
    assert made == [*"abcb"]
