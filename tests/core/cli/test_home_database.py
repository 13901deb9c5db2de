"""A notes home in a database, from making it to using it, as a person does in a terminal."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from postgres import PASSWORD, Cluster

from hindnote.core.cli import home as command
from hindnote.core.cli.app import make_app
from hindnote.core.places.database_home import DatabaseHome
from hindnote.core.places.project import key_in

pytest.importorskip("psycopg", reason="needs psycopg (hindnote[postgres])")


class Person:
    """Runs commands, and keeps all that they printed."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.env = monkeypatch
        self.printed = ""

    def run(self, *arguments: str, answer: str = "", code: int = 0) -> str:
        done: Result = CliRunner().invoke(make_app(), list(arguments), input=answer)
        self.printed += done.output
        assert done.exit_code == code, done.output
        return done.output

    def call(self, name: str, code: int = 0, **arguments: Any) -> str:
        return self.run("call", name, json.dumps(arguments), code=code)


@pytest.fixture
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A person at a terminal, in a directory that is no project; what they see has no password."""

    class Stdin:
        @staticmethod
        def isatty() -> bool:
            return True

    class Sys:
        stdin = Stdin

    home = tmp_path / "person"
    (home / "app" / ".git").mkdir(parents=True)
    for module in ("home", "project", "trust"):
        monkeypatch.setattr(f"hindnote.core.places.{module}.person_home", lambda: home)
    monkeypatch.setattr(command, "sys", Sys)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("CLAUDECODE", raising=False)
    monkeypatch.chdir(home)
    made = Person(monkeypatch)
    yield made
    assert PASSWORD not in made.printed
    assert "postgresql://admin" not in made.printed
    assert "postgresql://ada" not in made.printed
    kept = home / ".config" / "hindnote" / "trusted-homes.json"
    assert not kept.exists() or PASSWORD not in kept.read_text()


@pytest.fixture
def confirmed(person: Person, team: Cluster) -> Person:
    """The same person, whose notes are in the database, which they have confirmed."""
    person.env.setenv("HINDNOTE_HOME", team.url("team", "ada"))
    person.run("home", "trust", team.url("team", "ada"), answer="y\n")
    return person


def test_a_database_is_made_a_home_once_and_can_be_checked(
    person: Person, cluster: Cluster
) -> None:
    cluster.sql("CREATE DATABASE fresh")
    url = cluster.url("fresh")
    try:
        assert "is no notes home" in person.run("home", "check", url, code=1)
        assert "is no notes home" in person.run("home", "migrate", url, code=1)
        assert "version" in person.run("home", "init", url)
        assert "nothing to do" in person.run("home", "init", url)
        assert "nothing to do" in person.run("home", "migrate", url)
        assert "may read and write" in person.run("home", "check", url)
    finally:
        cluster.sql("DROP DATABASE fresh")


def test_a_reader_is_told_what_they_may_not(person: Person, team: Cluster) -> None:
    assert "which may read\n" in person.run("home", "check", team.url("team", "guest"))
    cluster_owner = "may not make or change tables"
    team.sql("CREATE DATABASE other")
    try:
        told = person.run("home", "init", team.url("other", "guest"), code=1)
    finally:
        team.sql("DROP DATABASE other")
    assert cluster_owner in told


def test_a_database_counts_only_once_it_was_confirmed(person: Person, team: Cluster) -> None:
    url = team.url("team", "ada")
    person.env.setenv("HINDNOTE_HOME", url)
    told = person.call("notes_list", code=1)
    assert "outside_home: HINDNOTE_HOME puts the notes home into the PostgreSQL database" in told
    assert 'hindnote home trust "$HINDNOTE_HOME"' in told
    assert "counts here: no" in person.run("home", code=1)

    assert "host = 127.0.0.1" in person.run("home", "trust", url, answer="y\n")
    person.call("notes_list")
    assert "counts here: yes" in person.run("home")
    assert "nothing to do" in person.run("home", "trust", url)

    person.run("home", "distrust", url)
    person.call("notes_list", code=1)
    assert "nothing to do" in person.run("home", "distrust", url)


@pytest.mark.parametrize(
    ("variable", "value"),
    [("PGHOSTADDR", "127.0.0.2"), ("PGSSLMODE", "disable"), ("PGPASSFILE", "/tmp/theirs")],
)
def test_a_setting_that_leads_a_confirmed_address_elsewhere_has_to_be_confirmed(
    confirmed: Person, variable: str, value: str
) -> None:
    confirmed.env.setenv(variable, value)

    assert "nobody has confirmed it" in confirmed.call("notes_list", code=1)


def test_no_database_is_confirmed_from_inside_a_project_or_by_an_agent(
    person: Person, team: Cluster
) -> None:
    url = team.url("team", "ada")
    person.env.setenv("CLAUDECODE", "1")
    person.run("home", "trust", url, answer="y\n", code=2)
    person.env.delenv("CLAUDECODE")
    person.env.chdir("app")
    assert "from which no home can be confirmed" in person.run("home", "trust", url, code=2)


def test_notes_in_a_database_are_written_read_and_found(confirmed: Person) -> None:
    confirmed.call("notes_write", address="@project/plan", content="Ship the ferry.\n")

    assert "Ship the ferry." in confirmed.call("notes_read", address="@project/plan")
    assert "@project/plan.md" in confirmed.call("notes_search", query="ferry")
    assert "answers; you see 1 note" in confirmed.run("doctor", code=0)


def test_each_change_is_listed_and_an_earlier_version_comes_back(confirmed: Person) -> None:
    address = "@project/plan"
    confirmed.call("notes_write", address=address, content="first\n")
    first = confirmed.run("notes", "log", address).split(" | ")[0]
    confirmed.call("notes_write", address=address, content="second\n")
    log = confirmed.run("notes", "log", address).splitlines()
    assert len(log) == 2
    assert log[1].startswith(f"{first} | ")
    assert " | ada on " in log[0].replace(" | write | ", " | ")
    assert "agent " in log[0]

    assert first in confirmed.run("notes", "restore", address, first)
    assert "first\n" in confirmed.call("notes_read", address=address)
    log = confirmed.run("notes", "log", address).splitlines()
    assert [line.split(" | ")[0] for line in log] == [first, log[1].split(" | ")[0], first]
    assert "is kept" in confirmed.run("notes", "restore", address, "0123", code=1)
    assert "no change of" in confirmed.run("notes", "log", "@project/none", code=1)


def test_a_moved_note_says_whence_and_a_restored_one_comes_back_there(confirmed: Person) -> None:
    confirmed.call("notes_write", address="@human/a", content="body\n")
    first = confirmed.run("notes", "log", "@human/a").split(" | ")[0]
    confirmed.call("notes_update", address="@human/a", rename_to="@human/b")

    assert "moved from human/a.md" in confirmed.run("notes", "log", "@human/b")
    confirmed.run("notes", "restore", "@human/a", first)
    assert "body" in confirmed.call("notes_read", address="@human/a")


def keyed(folder: Path, url: str) -> None:
    (folder / ".git" / "config").write_text(f'[remote "origin"]\n\turl = {url}\n')


def test_notes_of_a_renamed_remote_get_its_key_with_their_versions(
    confirmed: Person, tmp_path: Path
) -> None:
    project = tmp_path / "person" / "app"
    keyed(project, "https://h.example/team/old")
    for text in ("one\n", "two\n"):
        confirmed.call("notes_write", address="@project/deep/plan", content=text, cwd=str(project))
    confirmed.call("notes_read", address="@project/deep/plan", cwd=str(project))
    old = key_in(DatabaseHome("postgresql://h/d"), project)
    keyed(project, "https://h.example/team/new")
    new = key_in(DatabaseHome("postgresql://h/d"), project)
    confirmed.call("notes_write", address="@project/deep/other", content="x", cwd=str(project))

    assert f"gave 1 note the key {new}" in confirmed.run("home", "rekey", old, new)

    read = confirmed.call("notes_read", address="@project/deep/plan", cwd=str(project))
    assert "two" in read
    log = confirmed.run("notes", "log", "@project/deep/plan", "--cwd", str(project))
    assert len(log.splitlines()) == 2
    assert "no notes are kept" in confirmed.run("home", "rekey", old, new, code=1)


def test_a_copy_gives_projects_the_key_that_they_have_in_the_other_home(
    confirmed: Person, team: Cluster, tmp_path: Path
) -> None:
    project, notes = tmp_path / "person" / "app", tmp_path / "folder"
    keyed(project, "https://h.example/team/app")
    for key in (key_in(notes, project), "gone-01234567"):
        (notes / "project" / key).mkdir(parents=True)
        (notes / "project" / key / "plan.md").write_text(f"of {key}\n")
    confirmed.env.chdir(project)
    url = team.url("team", "ada")

    told = confirmed.run("home", "copy", str(notes), url)

    assert "kept its key, since no directory of the project is known here: gone-01234567" in told
    assert "copied 2 notes" in told
    read = confirmed.call("notes_read", address="@project/plan", cwd=str(project))
    assert f"of {key_in(notes, project)}" in read
    back = tmp_path / "back"
    confirmed.run("home", "copy", url, str(back))
    plans = {file.parent.name: file.read_bytes() for file in back.rglob("plan.md")}
    assert plans == {file.parent.name: file.read_bytes() for file in notes.rglob("plan.md")}


def test_notes_of_one_name_are_not_put_into_one_project(confirmed: Person, tmp_path: Path) -> None:
    project = tmp_path / "person" / "app"
    keys = []
    for name in ("old", "new"):
        keyed(project, f"https://h.example/team/{name}")
        keys.append(key_in(DatabaseHome("postgresql://h/d"), project))
        confirmed.call("notes_write", address="@project/plan", content=name, cwd=str(project))

    told = confirmed.run("home", "rekey", *keys, code=1)

    assert "have notes of the same name" in told
    assert "new" in confirmed.call("notes_read", address="@project/plan", cwd=str(project))
    keyed(project, "https://h.example/team/old")
    assert "old" in confirmed.call("notes_read", address="@project/plan", cwd=str(project))


@pytest.mark.parametrize("key", ["../x-00000000", "app", "human", "app-0000000g"])
def test_what_is_no_key_is_refused(confirmed: Person, key: str) -> None:
    assert "is not a project key" in confirmed.run("home", "rekey", "app-00000000", key, code=2)


def test_a_folder_says_that_it_keeps_no_versions(person: Person, tmp_path: Path) -> None:
    person.env.setenv("HINDNOTE_HOME", str(tmp_path / "notes"))
    person.call("notes_write", address="@human/a", content="body\n")

    for arguments in (("log", "@human/a"), ("restore", "@human/a", "0123")):
        told = person.run("notes", *arguments, code=1)
        assert "a notes home that is a folder keeps no earlier versions" in told


def test_a_database_that_is_away_is_said_by_each_command(
    person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"postgresql://ada:{PASSWORD}@127.0.0.1:1/team"
    monkeypatch.setenv("HINDNOTE_HOME", url)
    person.run("home", "trust", url, answer="y\n")

    for name in ("notes_list", "notes_search"):
        assert "io_error" in person.call(name, code=1)
    assert "io_error" in person.call("notes_read", address="@human/a", code=1)
    assert "io_error" in person.call("notes_write", address="@human/a", content="x", code=1)
    assert "nothing listens at its port" in person.run("doctor", code=1)
    assert "nothing listens" in person.run("home", "check", url, code=1)


def test_a_home_named_on_the_command_line_needs_no_confirmation(
    person: Person, team: Cluster
) -> None:
    url = team.url("team", "ada")

    person.run("call", "notes_write", '{"address": "@human/a", "content": "x"}', "--home", url)

    assert "@human/a.md" in person.run("call", "notes_list", "--home", url)
    assert "answers; you see 1 note" in person.run("doctor", "--home", url)
