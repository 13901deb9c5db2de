from __future__ import annotations

import json

from hindnote.core.project import tools
from hindnote.core.tools.registry import registry
from hindnote.core.tools.schema import declaration
from hindnote.hosts.pi.paths import SOURCE


def test_tools_json_is_what_the_core_declares() -> None:
    """Regenerate it with ``hindnote schemas > hosts/pi/extension/tools.json``."""
    declared = [declaration(operation) for operation in registry().values()]

    assert json.loads((SOURCE / "tools.json").read_bytes()) == declared


def test_project_tools_json_is_what_the_core_declares() -> None:
    """Regenerate it: ``hindnote schemas --project > hosts/pi/extension/project-tools.json``."""
    declared = [tools.declaration(tool) for tool in tools.TOOLS.values()]

    assert json.loads((SOURCE / "project-tools.json").read_bytes()) == declared
