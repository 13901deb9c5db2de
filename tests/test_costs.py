"""What an answer costs an agent beside what it asked for."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType


def costs() -> ModuleType:
    spec = importlib.util.spec_from_file_location("costs", Path(__file__).with_name("costs.py"))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_ten_typical_answers_cost_a_third_less_than_they_did(tmp_path: Path) -> None:
    module = costs()

    sizes = module.sizes(tmp_path)

    assert sizes.keys() == module.BEFORE.keys()
    assert all(size <= module.BEFORE[name][0] for name, size in sizes.items())
    whole, in_lines = (sum(before) for before in zip(*module.BEFORE.values(), strict=True))
    assert sum(sizes.values()) <= whole * 2 / 3
    # Compared line for line it is nearly as much, so lines in the place of JSON are not the whole
    # saving.
    assert sum(sizes.values()) <= in_lines * 0.68


def test_the_page_on_performance_shows_what_the_answers_cost(tmp_path: Path) -> None:
    module = costs()

    page = Path(__file__).parents[1] / "docs" / "performance.md"

    assert module.table(module.sizes(tmp_path)) in page.read_text()
