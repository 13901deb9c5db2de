from __future__ import annotations

import json
from typing import Any

from hindnote.core.history.operations.lookups import READING
from hindnote.core.project import tools as project
from hindnote.core.tools.registry import registry
from hindnote.core.tools.schema import declaration, opened
from hindnote.hosts.claude.generate_tools import FILE, module

SOURCE = module(registry(), project.TOOLS)


def listed(constant: str) -> list[Any]:
    """Return the list that a constant of the module holds."""
    found, _ = json.JSONDecoder().raw_decode(SOURCE.partition(f"{constant}[] = ")[2])
    assert isinstance(found, list)
    return found


def test_the_mods_tools_are_generated_from_the_core() -> None:
    """Run ``python -m hindnote.hosts.claude.generate_tools`` when this fails."""
    assert FILE.read_text("utf-8") == SOURCE


def test_the_mod_declares_name_description_and_input_of_all() -> None:
    """The inputs without the sentence, once an object, that there are no other fields."""
    seven = [declaration(operation) for operation in registry().values()]
    eight = [project.declaration(tool) for tool in project.TOOLS.values()]

    for constant, declared in (
        ("TOOLS: readonly ToolSpec", seven),
        ("PROJECT_TOOLS: readonly ToolSpec", eight),
    ):
        assert listed(constant) == [
            {
                "name": one["name"],
                "description": one["description"],
                "inputSchema": opened(one["inputSchema"]),
            }
            for one in declared
        ]


def test_the_mod_knows_which_tools_only_look() -> None:
    looking = {
        name
        for name in project.TOOLS
        if name.endswith(("search", "describe", "list", "validate", "inspect"))
    }

    assert set(listed("READING: readonly string")) == READING | looking
