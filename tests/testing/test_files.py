"""What the check of a folder finds in real sessions, and in a host that reads them wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from broken import CountsFromTheEnd, HidesDamage, Host, reading
from click.testing import CliRunner
from mutants import MUTANTS, KeepsItsLineage, NeverUndoes, along, altered, branch, entries

from hindnote.core.cli.app import make_app
from hindnote.core.plugins.hosts import Hosts
from hindnote.testing.files import Findings, check_folder

DATA = Path(__file__).parents[1] / "data"

ROWS: tuple[dict[str, Any], ...] = (
    {"logbook": 1, "id": "voyage", "cwd": "/ship", "started": "2026-03-01T10:00:00Z"},
    {"at": "2026-03-01T10:00:05Z", "person": "Count."},
    {
        "at": "2026-03-01T10:00:09Z",
        "agent": None,
        "calls": [{"id": "c1", "tool": "shell", "input": {"b": 1, "a": 2}}],
    },
    {"at": "2026-03-01T10:00:10Z", "result": "c1", "output": "42\n", "failed": False},
    {"at": "2026-03-01T10:00:14Z", "agent": "42.", "calls": []},
    {"at": "2026-03-01T10:01:00Z", "summary": "We counted."},
    {"at": "2026-03-01T10:02:00Z", "person": "Again."},
    {"undo": True},
    {"weather": "fair"},
    {"at": "2026-03-01T10:03:00Z", "person": "Go on."},
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    text = "".join(json.dumps(row) + "\n" for row in ROWS)
    (tmp_path / "voyage.log").write_text(text + '{"torn": \n' + text.splitlines()[-1] + "\n")
    (tmp_path / "notes.txt").write_text("no session\n")
    return tmp_path


def found(host: Host, folder: Path, told: list[str] | None = None) -> Findings:
    def progress(number: int, total: int, file: Path) -> None:
        if told is not None:
            told.append(f"{number}/{total} {file.name}")

    return check_folder(Hosts.of({"logbook": host}), "logbook", folder, progress)


def test_a_host_without_a_defect_has_no_problem_with_its_files(folder: Path) -> None:
    told: list[str] = []

    findings = found(Host(), folder, told)

    assert findings.problems == {}
    assert [file.name for file in findings.read] == ["voyage.log"]
    assert (findings.listed, findings.damaged) == (1, 1)
    assert [file.name for file in findings.refused] == ["notes.txt"]
    assert told == ["1/2 notes.txt", "2/2 voyage.log"]


@pytest.mark.parametrize(
    ("host", "told"),
    [
        (entries(cwd=lambda entry: "/harbor"), "with cwd '/harbor'"),
        (entries(started=lambda entry: None), "with started None"),
        (entries(size=lambda entry: 0), "with 0 bytes"),
        (reading(CountsFromTheEnd), "renumbered"),
        (reading(HidesDamage), "`damaged` does not list it"),
        (along(KeepsItsLineage), "share a `lineage`"),
        (MUTANTS["a window for each reading"][1], "and read at once"),
        (MUTANTS["a window behind the end"][1], "the branch has no seq"),
        (MUTANTS["times an hour late"][1], "fill `times`"),
        (MUTANTS["a tool of another name"][1], "of the tool 'wrench'"),
        (MUTANTS["lines that hold nothing"][1], "a search would miss it"),
        (MUTANTS["a last seq that is too small"][1], "but last_seq is 2"),
        (branch(kinds=lambda old: bytes([77, *old.kinds[1:]])), "the kind 77"),
    ],
)
def test_a_host_that_reads_its_files_wrong_is_told_where(
    host: Host, told: str, folder: Path
) -> None:
    problems = found(host, folder).problems

    assert told in "\n".join(problems[folder / "voyage.log"])


def test_a_crash_over_one_file_is_its_problem_and_not_the_end(folder: Path) -> None:
    (folder / "wreck.log").write_text((folder / "voyage.log").read_text())

    def sink(voyage: Any) -> Any:
        raise KeyError("wreck")

    problems = found(altered(sink), folder).problems

    assert sorted(file.name for file in problems) == ["voyage.log", "wreck.log"]
    assert "KeyError" in problems[folder / "wreck.log"][0]


def test_a_catalogue_in_the_wrong_order_is_a_problem_of_the_folder(folder: Path) -> None:
    import os

    (folder / "later.log").write_text((folder / "voyage.log").read_text().replace("voyage", "x"))
    os.utime(folder / "voyage.log", (1_700_000_000, 1_700_000_000))

    problems = found(MUTANTS["the oldest first"][1], folder).problems

    assert list(problems) == [folder]
    assert "list the newest first" in problems[folder][0]


def test_what_only_a_script_can_tell_is_not_claimed_to_be_found(folder: Path) -> None:
    """A session in which nothing is taken back is a session all the same."""
    (folder / "notes.txt").unlink()

    assert found(reading(NeverUndoes), folder).problems == {}


@pytest.mark.parametrize(("host", "count"), [("pi", 30), ("claude", 20)])
def test_the_recorded_sessions_of_the_built_in_hosts_hold_what_must_hold(
    host: str, count: int
) -> None:
    shown = CliRunner().invoke(make_app(), ["hosts", "--check", "--files", str(DATA / host)])

    assert shown.exit_code == 0, shown.output
    line = next(line for line in shown.stdout.splitlines() if line.startswith(f"{host}: "))
    assert int(line.split()[1]) >= count
    assert line.endswith("0 with problems")


def test_a_folder_without_a_session_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text("{}\n")

    shown = CliRunner().invoke(make_app(), ["hosts", "--check", "--files", str(tmp_path)])

    assert shown.exit_code == 1
    assert "no host reads a file below" in shown.output
    assert "no session of any host: a.jsonl: " in shown.output


def test_files_are_read_only_when_a_check_is_asked_for(tmp_path: Path) -> None:
    shown = CliRunner().invoke(make_app(), ["hosts", "--files", str(tmp_path)])

    assert shown.exit_code == 2
    assert "--files needs --check" in shown.output


def test_the_check_changes_nothing_in_the_folder(folder: Path) -> None:
    before = {file: file.read_bytes() for file in folder.iterdir()}

    found(Host(), folder)

    assert {file: file.read_bytes() for file in folder.iterdir()} == before
