"""A pytest plugin with the kit's options; active only when asked for with ``-p``."""

from __future__ import annotations

from importlib import import_module

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that names the writer."""
    group = parser.getgroup("hindnote", "conformance of a hindnote host")
    group.addoption(
        "--hindnote-writer",
        metavar="MODULE:NAME",
        help="the SessionWriter of the host under test: a class or function without arguments",
    )


@pytest.fixture
def hindnote_writer(request: pytest.FixtureRequest) -> object:
    """Return the writer that ``--hindnote-writer`` names."""
    named = request.config.getoption("--hindnote-writer")
    module, _, name = (named or "").partition(":")
    if not name:
        raise pytest.UsageError("give --hindnote-writer MODULE:NAME, your SessionWriter")
    return getattr(import_module(module), name)()
