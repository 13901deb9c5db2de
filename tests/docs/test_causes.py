"""Refusals that no console can show: their pages' messages, compared with provoked ones."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest
from console import DOCS, ROOT, matches

_CAUSE = re.compile(r"^<!-- cause -->\n+```text\n(.*?)\n```$", re.MULTILINE | re.DOTALL)

PAGES = {page.stem: page.read_text("utf-8") for page in (DOCS / "refusals").glob("*.md")}
SHOWN = {code: found[1] for code, page in sorted(PAGES.items()) if (found := _CAUSE.search(page))}


@pytest.fixture(scope="module")
def refusals() -> ModuleType:
    """The tests of the refusals, for the causes that they hold."""
    name = "refusals_for_the_pages"
    spec = importlib.util.spec_from_file_location(name, ROOT / "tests/core/test_refusals.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("code", SHOWN)
def test_a_page_shows_the_message_of_its_refusal(
    code: str, refusals: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    printed = refusals.CAUSES[code](refusals.Bench(tmp_path, monkeypatch)).text

    assert matches(SHOWN[code], printed), printed


@pytest.mark.parametrize("code", sorted(set(PAGES) - {"index"}))
def test_every_page_s_message_is_a_real_one(code: str) -> None:
    assert ("<!-- run -->" in PAGES[code]) is not (code in SHOWN)
