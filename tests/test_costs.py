"""What an answer costs an agent beside what it asked for."""

from __future__ import annotations

import importlib.util
from pathlib import Path


def test_ten_typical_answers_cost_a_third_less_than_they_did(tmp_path: Path) -> None:
    spec = importlib.util.spec_from_file_location("costs", Path(__file__).with_name("costs.py"))
    assert spec is not None and spec.loader is not None
    costs = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(costs)

    sizes = costs.sizes(tmp_path)

    assert sizes.keys() == costs.BEFORE.keys()
    assert sum(sizes.values()) * 3 <= sum(costs.BEFORE.values()) * 2
    assert all(size <= costs.BEFORE[name] for name, size in sizes.items())
