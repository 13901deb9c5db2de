import pytest
from hindnote.testing import HostConformance
from logbook.testing import Writer


class TestLogbook(HostConformance):
    @pytest.fixture
    def writer(self):
        return Writer()
