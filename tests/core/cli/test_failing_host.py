"""One host whose catalogue crashes, beside another with a session."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from click.testing import CliRunner, Result

from hindnote.core.cli.app import make_app

CRASHING = """
from hindnote import HostIdentity, hookimpl

@hookimpl
def host_base_cwd(call):
    return call.cwd

@hookimpl
def host_identity(call):
    return HostIdentity(host="crashing", session_id=None, agent="a", model="m")

@hookimpl
def host_projection(call, session):
    return None

@hookimpl
def host_sessions(call):
    raise ValueError("the text of the crash")
"""
FAILURE = "failed in host_sessions with ValueError"


@pytest.fixture
def beside(corpus: Any, install: Callable[..., None]) -> None:
    corpus.add_pi("aaaaaaaa-1", "needle")
    install("crashing-host", "crashing", "hindnote_test_crashing", CRASHING)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(make_app(), arguments)


@pytest.mark.usefixtures("beside")
def test_a_search_finds_what_the_other_hosts_have_and_names_the_one_that_fails() -> None:
    result = run("search", "needle")

    assert result.exit_code == 0
    assert "pi:aaaaaaaa-1" in result.stdout
    assert "sessions of crashing are missing" in result.stdout
    assert FAILURE in result.stdout
    assert "the text of the crash" not in result.stdout


@pytest.mark.usefixtures("beside")
def test_the_list_of_sessions_names_the_host_that_fails(caplog: pytest.LogCaptureFixture) -> None:
    result = run("sessions")

    assert result.exit_code == 0
    assert "pi:aaaaaaaa" in result.stdout
    assert result.stdout.splitlines()[-1].endswith(FAILURE)
    assert "the text of the crash" in caplog.text


@pytest.mark.usefixtures("beside")
def test_the_json_of_sessions_tells_what_is_missing_and_why() -> None:
    told = json.loads(run("sessions", "--json").stdout)

    assert told["total"] == 1
    assert told["missing"]["crashing"].endswith(FAILURE)
    assert "missing" not in json.loads(run("sessions", "--json", "--host", "pi").stdout)


@pytest.mark.usefixtures("beside")
def test_the_doctor_tells_of_the_host_and_looks_at_the_others() -> None:
    result = run("doctor", "--sessions")

    assert result.exit_code == 1
    assert "error    host crashing" in result.stdout
    assert FAILURE in result.stdout
    assert "1 looked at" in result.stdout
