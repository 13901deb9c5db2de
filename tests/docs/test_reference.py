"""The reference pages, compared with the code that they describe."""

from __future__ import annotations

import importlib.util
import inspect
import re
from types import ModuleType

import pytest
from console import DOCS

from hindnote import hookspecs
from hindnote.core.errors import REFUSAL_CODES
from hindnote.core.plugins.rules import REQUIRED, new_manager, specified_hooks
from hindnote.core.tools.registry import NAMES
from hindnote.testing import CHECKS

HOOKS = specified_hooks(new_manager())


@pytest.fixture(scope="module")
def toolpages() -> ModuleType:
    spec = importlib.util.spec_from_file_location("toolpages", DOCS / "toolpages.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", NAMES)
def test_a_tool_s_page_is_what_its_declaration_says(toolpages: ModuleType, name: str) -> None:
    written = (DOCS / "tools" / f"{name}.md").read_text("utf-8")

    assert written == toolpages.page(name), "run: python docs/toolpages.py"


def sections(page: str) -> dict[str, str]:
    """Return the sections of a page by their heading."""
    parts = re.split(r"^## ", (DOCS / page).read_text("utf-8"), flags=re.MULTILINE)[1:]
    return {part.partition("\n")[0]: part.partition("\n")[2] for part in parts}


@pytest.mark.parametrize("name", HOOKS)
def test_every_hook_has_a_section_that_names_its_arguments(name: str) -> None:
    arguments = ", ".join(HOOKS[name])
    section = sections("hooks.md")[f"`{name}({arguments})`"]

    for argument in HOOKS[name]:
        assert f"`{argument}`" in section
    assert ("Required." in section) is (name in REQUIRED)


def test_the_hook_reference_describes_no_hook_that_is_not_there() -> None:
    described = {heading[1:].partition("(")[0] for heading in sections("hooks.md")}

    assert {name for name in described if name.startswith("host_")} == set(HOOKS)


@pytest.mark.parametrize("name", HOOKS)
def test_a_hook_s_section_says_what_its_docstring_returns_none_for(name: str) -> None:
    docstring = inspect.getdoc(getattr(hookspecs, name)) or ""
    section = sections("hooks.md")[f"`{name}({', '.join(HOOKS[name])})`"]

    assert ("``None``" in docstring) is ("`None`" in section)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_every_check_of_the_kit_is_described(check: object) -> None:
    assert f"`{check.__name__}`" in (DOCS / "conformance.md").read_text("utf-8")


def test_every_refusal_code_has_a_page_and_every_page_a_code() -> None:
    pages = {page.stem for page in (DOCS / "refusals").glob("*.md")} - {"index"}

    assert pages == REFUSAL_CODES


@pytest.mark.parametrize("code", sorted(REFUSAL_CODES))
def test_a_refusal_s_page_says_when_shows_one_and_says_what_to_do(code: str) -> None:
    page = (DOCS / "refusals" / f"{code}.md").read_text("utf-8")

    assert page.startswith(f"# `{code}`\n")
    assert f"error: {code}: " in page
    assert "## What to do\n" in page
    assert f"({code}.md)" in (DOCS / "refusals" / "index.md").read_text("utf-8")
