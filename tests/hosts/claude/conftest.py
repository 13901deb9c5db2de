"""Lets the tests of this folder share what makes transcripts."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from helper_process import folder, recorder, serving, start

__all__ = ["folder", "recorder", "serving", "start"]


@pytest.fixture(autouse=True)
def managed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for the settings of whoever administers the machine; it is not there."""
    there = tmp_path / "managed"
    monkeypatch.setattr("hindnote.hosts.claude.switch.managed_folder", lambda: there)
    return there
