"""The examples of the pages, run."""

from __future__ import annotations

from pathlib import Path

import pytest
from console import DOCS, Scratch, matches, steps

PAGES = [page for page in sorted(DOCS.rglob("*.md")) if "<!-- run -->" in page.read_text("utf-8")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS)))
def test_a_page_s_examples_print_what_it_shows(page: Path, scratch: Scratch) -> None:
    found = list(steps(page.read_text("utf-8")))
    assert found, "a mark without a console block"
    for step in found:
        printed = scratch.run(step.command)
        assert matches(step.shown, printed), f"$ {step.command}\n{printed}"


def test_something_else_than_what_is_shown_does_not_match() -> None:
    assert matches("a … c\n… end", "a b c\nx\ny end")
    assert not matches("a … c", "a b d")
    assert not matches("a", "a\nb")
