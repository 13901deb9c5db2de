"""The Codex host is written as a stranger's: with public names alone."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from hindnote.hosts import codex

FILES = sorted(Path(codex.__file__).parent.rglob("*.py"))
PUBLIC = {"hindnote", "hindnote.hosting"}
OWN = "hindnote.hosts.codex"


def imported(file: Path) -> set[str]:
    """Return the modules of hindnote that a file imports from, anywhere in it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_bytes())):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0
            found.add(node.module or "")
        elif isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
    return {name for name in found if name.split(".")[0] == "hindnote"}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_a_module_imports_public_names_and_its_own_package_alone(file: Path) -> None:
    foreign = {name for name in imported(file) - PUBLIC if not f"{name}.".startswith(f"{OWN}.")}

    assert foreign == set()


def test_there_is_something_to_look_at() -> None:
    assert len(FILES) > 10
