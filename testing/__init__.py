"""The conformance kit: checks for a host plugin, whose messages say how to fix it.

A host's author writes a ``SessionWriter``, which writes a neutral script of turns in the host's
own session format, and runs the checks with it::

    # tests/test_conformance.py
    import pytest
    from hindnote.testing import HostConformance
    from my_host.testing import Writer

    class TestMyHost(HostConformance):
        @pytest.fixture
        def writer(self):
            return Writer()

or, without writing a test file::

    pytest -p hindnote.testing.plugin --pyargs hindnote.testing.suite \
        --hindnote-writer my_host.testing:Writer

A single check runs without pytest::

    from hindnote.testing import CHECKS, Bench

    for check in CHECKS:
        with TemporaryDirectory() as folder:
            check(Bench(Writer(), Path(folder)))

The built-in hosts pass the same checks. Import this package only in tests; hindnote itself never
does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hindnote.testing.bench import Bench, Delegating, Forking, Rewinding, SessionWriter
from hindnote.testing.checks import CHECKS, Check
from hindnote.testing.turns import Answer, Compacted, Person, Ran, ToolCall, Turn

if TYPE_CHECKING:
    from hindnote.testing.conformance import HostConformance

__all__ = [
    "CHECKS",
    "Answer",
    "Bench",
    "Check",
    "Compacted",
    "Delegating",
    "Forking",
    "HostConformance",
    "Person",
    "Ran",
    "Rewinding",
    "SessionWriter",
    "ToolCall",
    "Turn",
]


def __getattr__(name: str) -> Any:
    # The only name here that needs pytest.
    if name == "HostConformance":
        from hindnote.testing.conformance import HostConformance

        return HostConformance
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
