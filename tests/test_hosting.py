"""``hindnote.hosting``: the one module from which a host's author imports."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

from hindnote import hosting

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "tests" / "data" / "third_party_host"
PAGES = [ROOT / "docs" / name for name in ("third-party-hosts.md", "hooks.md", "public-api.md")]
PUBLIC = {"hindnote", "hindnote.hosting", "hindnote.testing"}


def imported(code: str) -> set[str]:
    """Return the modules of hindnote that a piece of Python imports from."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
        elif isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
    return {name for name in found if name.split(".")[0] == "hindnote"}


@pytest.mark.parametrize("name", hosting.__all__)
def test_a_public_name_is_there_and_says_what_it_is(name: str) -> None:
    value = getattr(hosting, name)

    assert inspect.getdoc(value)


def test_names_are_sorted_and_listed() -> None:
    assert hosting.__all__ == sorted(hosting.__all__)
    assert set(hosting.__all__) <= set(dir(hosting))


def test_a_name_that_is_not_public_is_no_attribute() -> None:
    with pytest.raises(AttributeError, match="Nothing"):
        hosting.Nothing  # noqa: B018


def test_importing_it_imports_nothing_heavy() -> None:
    code = "import sys, hindnote.hosting; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    loaded = set(done.stdout.split())
    assert loaded & {"pydantic", "msgspec", "pluggy", "click", "hindnote.core"} == set()


@pytest.mark.parametrize("file", sorted(EXAMPLE.rglob("*.py")), ids=lambda file: file.name)
def test_the_example_imports_public_modules_alone(file: Path) -> None:
    assert imported(file.read_text("utf-8")) <= PUBLIC


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_pages_for_authors_import_public_modules_alone(page: Path) -> None:
    blocks = re.findall(
        r"^```python\n(.*?)^```$", page.read_text("utf-8"), re.MULTILINE | re.DOTALL
    )

    assert set().union(*map(imported, blocks)) <= PUBLIC


@pytest.mark.parametrize("name", hosting.__all__)
def test_every_public_name_is_documented_for_authors(name: str) -> None:
    assert f"`{name}" in (ROOT / "docs" / "public-api.md").read_text("utf-8")


SHOWN = re.compile(r"^<!-- shows: (\S+) -->\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("name", ["third-party-hosts.md", "hooks.md", "conformance.md"])
def test_a_page_shows_its_examples_as_they_stand_in_their_files(name: str) -> None:
    """Written out, so that the page can be read in the repository too."""
    page = (ROOT / "docs" / name).read_text("utf-8")
    shown = SHOWN.findall(page)

    assert shown
    assert "{literalinclude}" not in page
    for file, block in shown:
        assert block in (ROOT / file).read_text("utf-8") + "\n", f"{name} shows an old {file}"
