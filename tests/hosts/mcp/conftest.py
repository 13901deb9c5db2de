from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from conversation import Conversation, conversation


@pytest.fixture
def talk(tmp_path: Path) -> Iterator[Conversation]:
    """A program that has greeted a server of the latest version."""
    with conversation(tmp_path) as program:
        program.greet()
        yield program
