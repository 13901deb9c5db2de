"""Numbers in the output are printed as ``JSON.stringify`` prints them."""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindnote.core.project.contract.marks import compact, json_size
from hindnote.core.project.tools import TOOLS
from hindnote.hosts.pi import output_adapter

millionths = st.integers(0, 50_000_000).map(lambda count: round(count / 1_000_000, 6))


@pytest.mark.parametrize(
    ("score", "printed"),
    [
        (0.0, "0"),
        (1e-06, "0.000001"),
        (1.2e-05, "0.000012"),
        (9.9e-05, "0.000099"),
        (0.0001, "0.0001"),
        (1.0, "1"),
        (10.0, "10"),
        (1.05, "1.05"),
        (12.345678, "12.345678"),
        (5_000_000.5, "5000000.5"),
    ],
)
def test_a_score_is_printed_as_javascript_prints_it(score: float, printed: str) -> None:
    assert compact({"score": score}) == f'{{"score":{printed}}}'
    assert json_size([{"score": score, "path": "a"}]) == len(f'[{{"score":{printed},"path":"a"}}]')


@given(millionths)
def test_a_printed_score_is_the_same_number(score: float) -> None:
    printed = compact({"score": score})

    assert json.loads(printed) == {"score": score}
    assert "e" not in printed.removeprefix('{"score"')
    assert ".0}" not in printed


@given(st.recursive(st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_texts_are_left_alone(value: Any) -> None:
    told = {"score": 1e-06, "text": value, "score2": '"score":1e-06,', "quoted": '\\"score":1.0}'}

    assert json.loads(compact(told)) == told


def test_a_score_is_the_one_fraction_of_the_contract() -> None:
    def fractions(part: Any, name: str = "") -> set[str]:
        if isinstance(part, list):
            return set().union(*(fractions(one, name) for one in part))
        if not isinstance(part, dict):
            return set()
        found = {name} if part.get("type") == "number" else set()
        return found.union(*(fractions(one, key) for key, one in part.items()))

    schemas = [output_adapter(tool).json_schema() for tool in TOOLS]

    assert fractions(schemas) == {"score"}


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js")
def test_node_prints_scores_alike() -> None:
    scores = [count / 1_000_000 for count in (*range(0, 3_000, 7), *range(1, 40_000_000, 99_991))]
    rows = [{"score": round(score, 6), "path": '"score":1e-06'} for score in scores]
    script = "process.stdout.write(JSON.stringify(JSON.parse(require('fs').readFileSync(0))))"

    done = subprocess.run(
        ["node", "-e", script],
        input=json.dumps(rows),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )

    assert compact(rows) == done.stdout
