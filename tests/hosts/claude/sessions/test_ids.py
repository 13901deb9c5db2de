from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hindnote.hosts.claude.sessions.ids import Ids

NAMES = st.sampled_from([f"name {number}" for number in range(200)])


@given(st.lists(st.one_of(st.lists(NAMES, max_size=90), NAMES, st.none()), max_size=30))
def test_ids_are_numbered_like_the_keys_of_a_dict(steps: list[list[str] | str | None]) -> None:
    ids = Ids()
    known: dict[str, int] = {}
    count = 0
    for step in steps:
        if step is None:
            ids.settle()
        elif isinstance(step, str):
            assert ids.add(step) == known.setdefault(step, count)
            count = max(count, known[step] + 1)
        elif len(set(step)) < len(step) or known.keys() & set(step):
            assert ids.extend(step) is None
            ids.skip()
            count += 1
        else:
            added = dict(zip(step, range(count, count + len(step)), strict=True))
            assert ids.extend(step) == added
            known |= added
            count += len(step)
        for name in ("name 0", "name 7", "name 199", "never added"):
            assert ids.find(name) == known.get(name, -1)


def test_far_ids_are_found_before_and_after_many_were_looked_for() -> None:
    ids = Ids()
    names = [f"name {number}" for number in range(5_000)]
    for start in range(0, len(names), 50):
        assert ids.extend(names[start : start + 50])
    ids.settle()

    assert [ids.find(name) for name in names[:300]] == list(range(300))
    assert ids.find("never added") == -1
