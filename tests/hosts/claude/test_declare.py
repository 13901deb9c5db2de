from __future__ import annotations

import json

from hindnote.core.declarations import declaration
from hindnote.core.registry import READING, registry
from hindnote.hosts.claude.declare import FILE, module


def test_the_mods_tools_are_generated_from_the_operations() -> None:
    """Run ``python -m hindnote.hosts.claude.declare`` when this fails."""
    assert FILE.read_text("utf-8") == module(registry())


def test_the_mod_declares_name_description_and_input_of_all_seven() -> None:
    source = module(registry())

    tools = json.loads(source.rpartition("ToolSpec[] = ")[2])
    assert [tool["name"] for tool in tools] == list(registry())
    for tool, operation in zip(tools, registry().values(), strict=True):
        declared = declaration(operation)
        assert tool == {key: declared[key] for key in ("name", "description", "inputSchema")}


def test_the_mod_knows_which_operations_only_look() -> None:
    source = module(registry())

    listed = source.partition("string[] = ")[2].partition("]")[0] + "]"
    assert set(json.loads(listed)) == READING
