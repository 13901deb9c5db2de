"""The suite for ``pytest --pyargs hindnote.testing.suite``; it takes its writer from an option."""

from __future__ import annotations

import pytest

from hindnote.testing.bench import SessionWriter
from hindnote.testing.conformance import HostConformance

pytest_plugins = ["hindnote.testing.plugin"]
"""Who forgets to ask for it is told so by the plugin itself."""


class TestHost(HostConformance):
    """The host that ``--hindnote-writer`` names."""

    @pytest.fixture
    def writer(self, hindnote_writer: SessionWriter) -> SessionWriter:
        """Return the writer from the option."""
        return hindnote_writer
