"""A pytest plugin with the kit's options; active only with ``-p``."""

from __future__ import annotations

from collections.abc import Callable
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


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Refuse the run if tests need the writer and none is given, instead of failing each.

    Raises:
        pytest.UsageError: ``--hindnote-writer`` is missing, or cannot be imported.
    """
    # Workers of pytest-xdist cannot refuse a run; there each test fails instead.
    if hasattr(config, "workerinput"):
        return
    if any("hindnote_writer" in getattr(item, "fixturenames", ()) for item in items):
        _writer(config)


@pytest.fixture
def hindnote_writer(request: pytest.FixtureRequest) -> object:
    """Return the writer that ``--hindnote-writer`` names."""
    return _writer(request.config)()


def _writer(config: pytest.Config) -> Callable[[], object]:
    named = config.getoption("--hindnote-writer", None)
    module, _, name = (named or "").partition(":")
    if not name:
        raise pytest.UsageError(
            "give -p hindnote.testing.plugin --hindnote-writer MODULE:NAME, your SessionWriter"
        )
    try:
        writer: Callable[[], object] = getattr(import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise pytest.UsageError(f"--hindnote-writer {named} names nothing: {error}") from error
    return writer
