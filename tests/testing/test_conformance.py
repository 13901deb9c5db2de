from __future__ import annotations

import pytest
from logbook.testing import Writer
from writers import ClaudeWriter, CodexWriter, PiWriter

from hindnote.testing import HostConformance, SessionWriter


class TestPi(HostConformance):
    @pytest.fixture
    def writer(self) -> SessionWriter:
        return PiWriter()


class TestClaude(HostConformance):
    @pytest.fixture
    def writer(self) -> SessionWriter:
        return ClaudeWriter()


class TestCodex(HostConformance):
    @pytest.fixture
    def writer(self) -> SessionWriter:
        return CodexWriter()


class TestLogbook(HostConformance):
    @pytest.fixture
    def writer(self) -> SessionWriter:
        return Writer()
