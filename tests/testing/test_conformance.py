from __future__ import annotations

import pytest
from logbook.testing import Writer
from writers import ClaudeWriter, PiWriter

from hindnote.testing import HostConformance, SessionWriter


class TestPi(HostConformance):
    @pytest.fixture
    def writer(self) -> SessionWriter:
        return PiWriter()


class TestClaude(HostConformance):
    @pytest.fixture
    def writer(self) -> SessionWriter:
        return ClaudeWriter()


class TestLogbook(HostConformance):
    @pytest.fixture
    def writer(self) -> SessionWriter:
        return Writer()
