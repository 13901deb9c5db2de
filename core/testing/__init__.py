"""The conformance kit: what a host plugin must do, as checks that say how to mend it.

A host's author writes a ``SessionWriter``, which prints a neutral script of turns in
the host's own session format, and runs the checks over it::

    # tests/test_conformance.py
    import pytest
    from hindnote.testing import HostConformance
    from my_host.testing import Writer

    class TestMyHost(HostConformance):
        @pytest.fixture
        def writer(self):
            return Writer()

or, without a test file of its own::

    pytest -p hindnote.testing.plugin --pyargs hindnote.testing.suite \
        --hindnote-writer my_host.testing:Writer

The built-in hosts pass the same checks. Import this package in tests only: it is
loaded by nothing else.
"""

from hindnote.testing.bench import Bench, SessionWriter
from hindnote.testing.checks import CHECKS, Check
from hindnote.testing.conformance import HostConformance
from hindnote.testing.turns import Answer, Compacted, Person, Ran, ToolCall, Turn

__all__ = [
    "CHECKS",
    "Answer",
    "Bench",
    "Check",
    "Compacted",
    "HostConformance",
    "Person",
    "Ran",
    "SessionWriter",
    "ToolCall",
    "Turn",
]
