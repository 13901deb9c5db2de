"""The checks as a test class, for a host's own test suite."""

from __future__ import annotations

from pathlib import Path

import pytest

from hindnote.testing.bench import Bench, SessionWriter
from hindnote.testing.checks import CHECKS, Check


class HostConformance:
    """Subclass it as ``Test…`` and define a fixture ``writer``."""

    @pytest.fixture
    def writer(self) -> SessionWriter:
        """Return the writer of the host under test."""
        raise NotImplementedError("give a fixture named writer that returns your SessionWriter")

    @pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
    def test_conformance(self, check: Check, writer: SessionWriter, tmp_path: Path) -> None:
        """Run one check of the kit; its message says how to fix the plugin."""
        check(Bench(writer, tmp_path))
