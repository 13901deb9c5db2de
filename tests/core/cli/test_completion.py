from __future__ import annotations

import sys
from collections.abc import Callable

import pytest
from click.testing import CliRunner

from hindnote.core.cli.app import make_app

Install = Callable[..., None]


def completed(*words: str) -> list[str]:
    """Return what bash is offered for the last of the words."""
    asked = {
        "_HINDNOTE_COMPLETE": "bash_complete",
        "COMP_WORDS": " ".join(["hindnote", *words]),
        "COMP_CWORD": str(len(words)),
    }
    offered = CliRunner(env=asked).invoke(make_app(), prog_name="hindnote").output
    return [line.removeprefix("plain,") for line in offered.split()]


@pytest.mark.parametrize("command", [("call",), ("sessions",), ("search", "words")])
def test_the_installed_hosts_are_offered_and_none_is_imported(
    command: tuple[str, ...], install: Install
) -> None:
    install("acme", "acme", "hindnote_test_acme")

    assert {"acme", "claude", "pi"} <= set(completed(*command, "--host", ""))
    assert completed(*command, "--host", "ac") == ["acme"]
    assert completed(*command, "--host", "zed") == []
    assert "hindnote_test_acme" not in sys.modules


def test_the_hosts_that_have_sessions_are_offered_to_the_mcp_server(install: Install) -> None:
    install("acme", "acme", "hindnote_test_acme")

    assert {"acme", "claude", "pi"} <= set(completed("mcp", "--history-of", ""))
    assert completed("mcp", "--history-of", "m") == []
    assert "hindnote_test_acme" not in sys.modules
