"""The root command: its tree, its help and its exit codes."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import click
import pytest
from click.testing import CliRunner, Result

from hindnote.core.cli.app import make_app
from hindnote.core.errors import HostFailure

Install = Callable[..., None]

COMMAND = """
import click

@click.command(short_help="Greets.")
def greet():
    click.echo("hello")
"""


def run(*arguments: str) -> Result:
    return CliRunner().invoke(make_app(), arguments)


def test_help_teaches_with_examples_and_lists_every_command() -> None:
    shown = run("--help").output

    assert "hindnote demo" in shown
    assert "hindnote call notes_write '{" in shown
    assert "_HINDNOTE_COMPLETE" in shown
    for name in ("call", "doctor", "hosts", "install", "schemas", "uninstall"):
        assert f"\n  {name} " in shown


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["serch"], "no such command 'serch'; did you mean search?"),
        (["install", "zed"], "no such command 'zed'; there are: claude, codex, pi"),
        (["todo", "crate"], "did you mean create?"),
    ],
)
def test_a_wrong_spelling_is_told_what_there_is(arguments: list[str], told: str) -> None:
    result = run(*arguments)

    assert result.exit_code == 2
    assert told in result.stderr


@pytest.mark.parametrize("name", ["call", "doctor", "hosts", "schemas"])
def test_every_command_has_help(name: str) -> None:
    result = run(name, "--help")

    assert result.exit_code == 0
    assert result.output.startswith("Usage: hindnote ")


def test_a_distribution_s_command_is_found_by_its_path(install: Install) -> None:
    install("acme", "wave.hand", "hindnote_test_wave:greet", COMMAND, "hindnote.commands")

    assert run("wave", "hand").output == "hello\n"
    assert "Greets." in run("wave", "--help").output
    assert "wave" in run("--help").output


def test_a_command_that_cannot_be_imported_is_reported_and_the_others_work(
    install: Install,
) -> None:
    install("a", "broken", "hindnote_test_a:no", "import no_such_module", "hindnote.commands")
    install("b", "wave", "hindnote_test_b:greet", COMMAND, "hindnote.commands")

    result = run("broken", "--any", "argument")

    assert result.exit_code == 2
    assert "no_such_module" in result.output
    assert "a 1.0" in result.output
    assert "Traceback" not in result.output
    assert "broken" in run("--help").output
    assert run("wave").output == "hello\n"


def test_an_entry_point_that_is_no_command_is_reported(install: Install) -> None:
    install("a", "number", "hindnote_test_a:number", "number = 5", "hindnote.commands")

    result = run("number")

    assert result.exit_code == 2
    assert "no click command" in result.output


def test_no_distribution_replaces_a_command_of_the_core(install: Install) -> None:
    install("a", "schemas", "hindnote_test_a:greet", COMMAND, "hindnote.commands")

    assert "hello" not in run("schemas", "--help").output
    assert "Print the declaration" in run("schemas", "--help").output


def test_a_host_s_check_is_no_command(install: Install) -> None:
    install("a", "doctor.acme", "hindnote_test_a:greet", COMMAND, "hindnote.commands")

    assert run("doctor", "acme").exit_code == 2


def test_an_unknown_command_is_a_usage_error() -> None:
    assert run("nope").exit_code == 2


@click.command()
def failing() -> None:
    try:
        raise KeyError("inside the plugin")
    except KeyError as error:
        raise HostFailure("the plugin failed") from error


def test_a_host_failure_is_exit_code_2_and_a_plugin_s_crash_is_traced() -> None:
    app = make_app()
    app.add_command(failing)

    result = CliRunner().invoke(app, ["failing"])

    assert result.exit_code == 2
    assert "Error: the plugin failed" in result.stderr
    assert "inside the plugin" in result.stderr


@pytest.mark.usefixtures("measured")
def test_a_crash_is_exit_code_2_and_keeps_its_traceback() -> None:
    """Python's own exit code for a crash is that of a refusal."""
    code = (
        "import sys, click\n"
        "from hindnote.core.cli import app as module\n"
        "app = module.make_app()\n"
        "app.add_command(click.Command('crash', callback=lambda: 1 / 0))\n"
        "module.make_app = lambda: app\n"
        "sys.argv = ['hindnote', 'crash']\n"
        "module.run()\n"
    )

    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )

    assert done.returncode == 2
    assert "ZeroDivisionError" in done.stderr
    assert done.stdout == ""


def test_the_version_is_the_distribution_s() -> None:
    assert run("--version").output.startswith("hindnote, version ")
