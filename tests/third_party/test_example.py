"""The example host, installed beside hindnote and used as its people would."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hindnote.testing import CHECKS

if importlib.util.find_spec("logbook") is None:
    pytest.skip("the example is not installed: tox -e third-party", allow_module_level=True)

EXAMPLE = Path(__file__).parents[1] / "data" / "third_party_host"
SESSION = "2026-03-01-a"


class Person:
    """Somebody with both programs, a home, a project and one recorded session."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.project = folder / "ship"
        self.session = self.home / ".logbook" / "voyage.log"
        self.session.parent.mkdir(parents=True)
        (self.project / ".git").mkdir(parents=True)
        shutil.copyfile(EXAMPLE / "voyage.log", self.session)

    def run(self, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run an installed program of the environment."""
        return subprocess.run(
            [str(Path(sys.executable).with_name(program)), *arguments],
            cwd=self.project,
            env={"PATH": os.environ["PATH"], "HOME": str(self.home), "LANG": "C.UTF-8"},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    def logbook(self, operation: str, status: int = 0, /, **arguments: Any) -> str:
        """Make a call with the example's entry script and return what it printed."""
        done = self.run("logbook", str(self.session), operation, json.dumps(arguments))
        assert done.returncode == status, done.stderr
        return done.stdout if status < 2 else done.stderr


@pytest.fixture
def person(tmp_path: Path) -> Person:
    return Person(tmp_path)


def test_hindnote_lists_the_host_and_finds_nothing_wrong(person: Person) -> None:
    done = person.run("hindnote", "hosts", "--check")

    assert done.returncode == 0, done.stdout
    assert "logbook: ok\n  logbook-agent 1.0, logbook.plugin\n" in done.stdout


def test_notes_work_through_the_entry_script(person: Person) -> None:
    assert person.logbook("notes_write", address="plan", content="Sail.\n").startswith("created")
    person.logbook("notes_write", address="@project/crew", content="Ada\n")

    assert "Sail." in person.logbook("notes_read", address="plan")
    assert "@project/crew" in person.logbook("notes_list")
    notes = person.home / ".agents" / "notes"
    assert (notes / "logbook" / "session" / SESSION / "plan.md").is_file()
    assert len(list(notes.glob("project/ship-*/crew.md"))) == 1


def test_history_works_through_the_entry_script(person: Person) -> None:
    listed = person.logbook("history_list", limit=10)

    assert "Count the lines of the readme." in listed
    assert listed.endswith("-- from the logbook\n")
    assert "42 README.md" in person.logbook("history_read", seq=3)
    assert "It has 42 lines." in person.logbook("history_list", query="42 lines")


def test_history_goes_on_while_the_session_grows(person: Person) -> None:
    with person.session.open("a") as file:
        file.write('{"at": "2026-03-01T11:00:40Z", "agent": "I remember it."}\n')

    assert "I remember it." in person.logbook("history_list", limit=1)


def test_a_refusal_and_a_failure_have_exit_codes(person: Person) -> None:
    assert person.logbook("notes_read", 1, address="absent").startswith("error: not_found: ")
    assert "address: Field required" in person.logbook("notes_read", 2)


def test_the_command_line_answers_as_the_entry_script(person: Person) -> None:
    options = ["--host", "logbook", "--session-file", str(person.session)]

    done = person.run("hindnote", "call", "history_list", "{}", *options)

    assert done.stdout == person.logbook("history_list")


def test_another_host_finds_the_sessions(person: Person) -> None:
    asked = json.dumps({"session": f"logbook:{SESSION}", "query": "readme"})

    done = person.run("hindnote", "call", "history_list", asked, "--host", "pi")

    assert done.returncode == 0, done.stdout + done.stderr
    assert "Count the lines of the readme." in done.stdout


def test_the_page_s_examples_print_what_it_shows(person: Person) -> None:
    shutil.copyfile(EXAMPLE / "voyage.log", person.project / "voyage.log")
    page = (EXAMPLE.parents[2] / "docs" / "third-party-hosts.md").read_text("utf-8")
    mark = r"<!-- run: third-party -->\n```console\n(.*?)^```$"
    (block,) = re.findall(mark, page, re.MULTILINE | re.DOTALL)
    for step in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, shown = step.partition("\n")
        program, *arguments = shlex.split(command)
        pattern = ".*?".join(re.escape(part) for part in shown.rstrip("\n").split("…"))
        printed = person.run(program, *arguments).stdout.rstrip("\n")
        assert re.fullmatch(pattern, printed, re.DOTALL), f"$ {command}\n{printed}"


def test_the_kit_runs_without_a_test_file(person: Person) -> None:
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-p", "hindnote.testing.plugin"),
            *("--pyargs", "hindnote.testing.suite", "--hindnote-writer", "logbook.testing:Writer"),
        ],
        cwd=person.project,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )

    assert done.returncode == 0, done.stdout
    assert f"{len(CHECKS)} passed" in done.stdout


def test_the_kit_is_not_active_unless_asked_for() -> None:
    plugins = importlib.metadata.entry_points(group="pytest11")

    assert [plugin for plugin in plugins if "hindnote" in plugin.value] == []
