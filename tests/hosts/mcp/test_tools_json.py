from __future__ import annotations

from conversation import DECLARED

from hindnote.core.tools.registry import registry
from hindnote.core.tools.schema import declaration


def test_tools_json_is_what_the_core_declares() -> None:
    """Regenerate it with ``hindnote schemas > hosts/mcp/tools.json``."""
    assert [declaration(operation) for operation in registry().values()] == DECLARED
