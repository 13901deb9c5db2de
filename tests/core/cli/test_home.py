from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from hindnote.core.cli import home as command
from hindnote.core.cli.app import make_app
from hindnote.core.places.trust import trusted_homes


@pytest.fixture(autouse=True)
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A person in their home directory, at a terminal, with a repository in it."""
    home = tmp_path / "person"
    (home / "app" / ".git").mkdir(parents=True)
    for module in ("home", "project", "trust"):
        monkeypatch.setattr(f"hindnote.core.places.{module}.person_home", lambda: home)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("HINDNOTE_HOME", str(home / "app" / "notes"))
    monkeypatch.delenv("CLAUDECODE", raising=False)
    monkeypatch.chdir(home)
    return home


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    class Stdin:
        @staticmethod
        def isatty() -> bool:
            return True

    class Sys:
        stdin = Stdin

    monkeypatch.setattr(command, "sys", Sys)


def run(*arguments: str, answer: str = "") -> Result:
    return CliRunner().invoke(make_app(), ["home", *arguments], input=answer)


def call(cwd: Path, *options: str) -> Result:
    arguments = ["call", "notes_list", "--cwd", str(cwd), *options]
    return CliRunner().invoke(make_app(), arguments)


@pytest.mark.usefixtures("terminal")
def test_a_home_in_a_project_counts_from_its_confirmation_to_its_end(person: Path) -> None:
    app = person / "app"
    refused = call(app)
    assert refused.exit_code == 1
    assert f"hindnote home trust {app}/notes" in refused.output

    assert run("trust", "app/notes", answer="y\n").exit_code == 0
    assert call(app).exit_code == 0
    assert "nothing to do" in run("trust", f"{app}/notes").output

    assert run("distrust", "app/notes").exit_code == 0
    assert call(app).exit_code == 1
    assert "nothing to do" in run("distrust", "app/notes").output


def test_the_person_s_own_word_on_the_command_line_counts(person: Path) -> None:
    assert call(person / "app", "--home", str(person / "app" / "notes")).exit_code == 0


@pytest.mark.usefixtures("terminal")
@pytest.mark.parametrize("answer", ["n\n", "\n", ""])
def test_nothing_is_trusted_without_a_yes(answer: str) -> None:
    assert run("trust", "app/notes", answer=answer).exit_code == 1
    assert trusted_homes() == frozenset()


@pytest.mark.usefixtures("terminal")
@pytest.mark.parametrize("where", ["app", "app/deep", "other"])
def test_nothing_is_trusted_from_inside_of_a_project(
    person: Path, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (person / where / "notes").mkdir(parents=True)
    monkeypatch.chdir(person / where)

    result = run("trust", "notes", answer="y\n")

    assert result.exit_code == 2
    assert "lies in the project" in result.output
    assert trusted_homes() == frozenset()


def test_nothing_is_trusted_without_a_terminal() -> None:
    result = run("trust", "app/notes", answer="y\n")

    assert result.exit_code == 2
    assert "only a person can confirm a notes home" in result.output
    assert trusted_homes() == frozenset()


@pytest.mark.usefixtures("terminal")
def test_nothing_is_trusted_by_an_agent_s_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDECODE", "1")

    assert run("trust", "app/notes", answer="y\n").exit_code == 2
    assert trusted_homes() == frozenset()


@pytest.mark.usefixtures("terminal")
def test_what_is_no_folder_cannot_be_trusted() -> None:
    result = run("trust", "mysql://me:secret@db/notes", answer="y\n")

    assert result.exit_code == 2
    assert "secret" not in result.output


def test_the_home_is_told_with_what_set_it_and_whether_it_counts(
    person: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = run()
    assert told.exit_code == 0
    assert told.output.splitlines() == [
        f"notes home: {person}/app/notes",
        "set by: HINDNOTE_HOME in the environment",
        "counts here: yes",
        "trusted inside of projects: none",
        f"kept in: {person}/.config/hindnote/trusted-homes.json",
    ]

    monkeypatch.chdir(person / "app")
    told = run()
    assert told.exit_code == 1
    assert "counts here: no: HINDNOTE_HOME puts the notes home" in told.output

    monkeypatch.delenv("HINDNOTE_HOME")
    assert "set by: nothing; it is the usual one" in run().output


def test_doctor_tells_of_a_home_that_does_not_count_and_does_not_look_into_it(
    person: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (person / "app" / "notes").mkdir()
    monkeypatch.chdir(person / "app")

    told = CliRunner().invoke(make_app(), ["doctor"]).output

    assert "nobody has confirmed it" in told
    assert "holds 0 notes" not in told
