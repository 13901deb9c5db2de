"""Links between the repository's own pages, which work in a browser of the repository too."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from console import DOCS, ROOT

_LINK = re.compile(r"\]\(([^)\s]+)\)")
_FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *DOCS.rglob("*.md")]


def links(page: Path) -> list[str]:
    """Return the targets of a page's links that lead to files."""
    found = _LINK.findall(_FENCE.sub("", page.read_text("utf-8")))
    return [link for link in found if "://" not in link and not link.startswith("#")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_links_to_files_that_are_there(page: Path) -> None:
    targets = {link: page.parent / link.partition("#")[0] for link in links(page)}

    assert [link for link, file in targets.items() if not file.exists()] == []


def test_links_lead_somewhere() -> None:
    assert sum(len(links(page)) for page in PAGES) > 100
