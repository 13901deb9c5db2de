from __future__ import annotations

import pytest

pytest.importorskip("mcp", reason="needs the MCP SDK: pip install 'hindnote[mcp]'")
