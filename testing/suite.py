"""The suite for ``pytest --pyargs hindnote.testing.suite``; an option names its writer."""

from __future__ import annotations

import pytest

from hindnote.testing.bench import SessionWriter
from hindnote.testing.conformance import HostConformance

pytest_plugins = ["hindnote.testing.plugin"]
"""Loads the plugin too, which then reports a missing ``-p``."""


class TestHost(HostConformance):
    """The tests for the host that ``--hindnote-writer`` names."""

    @pytest.fixture
    def writer(self, hindnote_writer: SessionWriter) -> SessionWriter:
        """Return the writer from the option."""
        return hindnote_writer
