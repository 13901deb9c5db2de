"""The look at what is installed, and the checks that hosts add."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

import hindnote
from hindnote.core.doctor import Finding, installation
from hindnote.core.doctor.installation import (
    PROJECT_TOOLS,
    WAYS,
    examine_hosts,
    examine_installation,
    examine_settings,
)

Install = Callable[..., None]


def test_a_refused_host_and_a_broken_command_are_wrong(install: Install) -> None:
    install("a", "acme", "hindnote_test_a", "import no_such_module")
    install("b", "wave", "hindnote_test_b:x", "import no_such_module", "hindnote.commands")

    subjects = [finding.subject for finding in examine_installation() if finding.level == "error"]

    assert "host acme" in subjects
    assert "entry point wave" in subjects


def test_of_two_plugins_for_one_host_the_refused_one_is_named(install: Install) -> None:
    install("a", "acme", "hindnote_test_a")
    install("b", "acme", "hindnote_test_b")

    [wrong] = [finding for finding in examine_installation() if finding.level == "error"]

    assert wrong.message.startswith("b 1.0 was refused: the slug is taken by ")


def test_two_claims_to_one_command_are_wrong(install: Install) -> None:
    install("a", "wave", "hindnote_test_a:x", "x = 1", "hindnote.commands")
    install("b", "wave", "hindnote_test_b:x", "x = 1", "hindnote.commands")

    messages = [finding.message for finding in examine_installation() if finding.level == "error"]

    assert any("b 1.0 offers what a 1.0 offers already" in message for message in messages)


def test_a_command_off_the_path_is_worth_knowing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installation.shutil, "which", lambda name: None)

    found = [finding for finding in examine_installation() if finding.level == "warning"]

    assert [finding.subject for finding in found] == ["command hindnote"]


@pytest.mark.parametrize("value", [None, "", *WAYS])
def test_a_way_to_the_project_tools_is_nothing_to_tell(
    monkeypatch: pytest.MonkeyPatch, value: str | None
) -> None:
    monkeypatch.delenv(PROJECT_TOOLS, raising=False)
    if value is not None:
        monkeypatch.setenv(PROJECT_TOOLS, value)

    assert list(examine_settings()) == []


def test_a_value_that_no_host_knows_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(PROJECT_TOOLS, "Direct\n")

    [finding] = examine_settings()

    assert finding.level == "warning"
    assert finding.message == (
        r"is 'Direct\n', none of codemode, direct, deferred, off; it counts as unset"
    )


@pytest.mark.parametrize(
    "module", ["hosts/pi/extension/project.ts", "hosts/claude/mod/hooks/register.ts"]
)
def test_the_hosts_take_what_the_doctor_takes(module: str) -> None:
    text = (Path(hindnote.__file__).parent / module).read_text("utf-8")
    [choices] = re.findall(r"CHOICES = \[(.*)\]", text)

    assert set(re.findall(r"\w+", choices)) == set(WAYS)


# -- the hosts -----------------------------------------------------------------

CHECKS = """
from hindnote.core.doctor import Finding

def checks():
    yield Finding("warning", "acme", "is asleep", "wake it")
    {rest}
"""


def acme(findings: list[Finding]) -> list[Finding]:
    return [finding for finding in findings if "acme" in finding.subject]


@pytest.mark.parametrize(
    ("rest", "levels"),
    [
        ("", ["warning"]),
        ("raise KeyError('gone')", ["warning", "error"]),
        ("yield 'text'", ["warning", "error"]),
    ],
)
def test_a_host_s_checks_are_run_and_a_broken_one_is_a_finding(
    install: Install, rest: str, levels: list[str]
) -> None:
    install(
        *("a", "doctor.acme", "hindnote_test_a:checks"),
        CHECKS.format(rest=rest),
        "hindnote.commands",
    )

    assert [finding.level for finding in acme(list(examine_hosts()))] == levels


def test_a_check_that_is_no_function_is_a_finding(install: Install) -> None:
    install("a", "doctor.acme", "hindnote_test_a:checks", "checks = 5", "hindnote.commands")

    assert [finding.level for finding in acme(list(examine_hosts()))] == ["error"]
