from __future__ import annotations

import sys
from pathlib import Path

import pytest

from hindnote.core.errors import HostFailure, Refused
from hindnote.core.places.home import NotesHome, notes_home
from hindnote.core.places.trust import set_trusted, trust_file
from hindnote.core.text.messages import MESSAGE_LIMIT


@pytest.fixture
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The person's home as the user database has it; the environment's is the same."""
    home = tmp_path / "person"
    home.mkdir()
    for module in ("home", "project", "trust"):
        monkeypatch.setattr(f"hindnote.core.places.{module}.person_home", lambda: home)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("HINDNOTE_HOME", raising=False)
    return home


@pytest.fixture
def project(person: Path) -> Path:
    """A repository below the person's home."""
    project = person / "work" / "app"
    (project / ".git").mkdir(parents=True)
    (project / "deep").mkdir()
    return project


def refusal(home: NotesHome, base: Path) -> str:
    with pytest.raises(Refused) as refused:
        home.admit(base)
    assert refused.value.code == "outside_home"
    return refused.value.refusal.message


# -- where they are ------------------------------------------------------------


def test_the_notes_are_below_the_person_s_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HINDNOTE_HOME", raising=False)
    monkeypatch.setenv("HOME", "/home/someone")

    assert notes_home().folder == Path("/home/someone/.agents/notes")


@pytest.mark.parametrize(
    ("named", "meant"), [("/elsewhere", "/elsewhere"), ("~/notes", "/home/someone/notes")]
)
def test_the_environment_names_another_home(
    monkeypatch: pytest.MonkeyPatch, named: str, meant: str
) -> None:
    monkeypatch.setenv("HOME", "/home/someone")
    monkeypatch.setenv("HINDNOTE_HOME", named)

    assert notes_home() == NotesHome(Path(meant), "HINDNOTE_HOME")


def test_the_person_s_own_word_may_be_relative(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HINDNOTE_HOME", "/elsewhere")

    assert notes_home(Path("notes")) == NotesHome(tmp_path / "notes")


def test_an_empty_name_counts_as_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/someone")
    monkeypatch.setenv("HINDNOTE_HOME", "")

    assert notes_home().folder == Path("/home/someone/.agents/notes")


def test_without_any_home_the_failure_names_the_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless(self: Path) -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("HINDNOTE_HOME", raising=False)
    monkeypatch.setattr(Path, "expanduser", homeless)

    with pytest.raises(HostFailure, match="HINDNOTE_HOME"):
        notes_home()


@pytest.mark.parametrize("named", ["notes", "./notes", "../notes", "~nobody-of-this-name/notes"])
def test_what_is_no_absolute_path_is_refused_by_name(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, named: str
) -> None:
    monkeypatch.setenv("HINDNOTE_HOME", named)

    try:
        told = refusal(notes_home(), tmp_path)
    except HostFailure as failure:
        told = str(failure)

    assert "HINDNOTE_HOME" in told
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "named", ["mysql://me:secret@db/notes", "postgres:/x", "HTTPS://host/x", "file:///notes"]
)
def test_what_is_no_folder_is_refused_without_what_it_may_hide(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, named: str
) -> None:
    monkeypatch.setenv("HINDNOTE_HOME", named)

    told = refusal(notes_home(), tmp_path)

    assert told.startswith(f"HINDNOTE_HOME names a {named.partition(':')[0].lower()} address")
    assert "secret" not in told
    assert refusal(notes_home(Path(named)), tmp_path).startswith("--home names a")


# -- whether it counts ---------------------------------------------------------


@pytest.mark.parametrize("base", ["", "deep", "gone"])
@pytest.mark.parametrize("named", ["notes", "deep/notes", "", "deep/../notes", "../app/notes"])
def test_a_home_in_the_project_is_refused_with_who_asked_and_what_confirms_it(
    project: Path, monkeypatch: pytest.MonkeyPatch, base: str, named: str
) -> None:
    monkeypatch.setenv("HINDNOTE_HOME", f"{project}/{named}")

    told = refusal(notes_home(), project / base)

    assert told.startswith("HINDNOTE_HOME puts the notes home at")
    assert f"inside the project “{project}”" in told
    assert f"hindnote home trust {project}" in told
    assert len(told) <= MESSAGE_LIMIT


def test_a_home_in_the_project_that_the_caller_answers_for_counts(project: Path) -> None:
    notes_home(project / "notes").admit(project)


def test_a_home_elsewhere_counts(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    notes_home().admit(project)
    monkeypatch.setenv("HINDNOTE_HOME", str(project.parent / "notes"))
    notes_home().admit(project)


def test_links_into_the_project_and_out_of_it_are_in_it(
    project: Path, person: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (person / "in").symlink_to(project)
    (project / "out").symlink_to(person)
    (person / "project").symlink_to(project)

    for named, base in (
        (person / "in/notes", project),
        (project / "out/notes", project),
        (project / "notes", person / "project"),
        (person / "project/out", person / "project"),
    ):
        monkeypatch.setenv("HINDNOTE_HOME", str(named))
        refusal(notes_home(), base)


def test_a_folder_without_git_is_a_project_too(
    person: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (person / "unpacked").mkdir()
    monkeypatch.setenv("HINDNOTE_HOME", str(person / "unpacked" / "notes"))

    refusal(notes_home(), person / "unpacked")


def test_the_repository_around_a_repository_may_not_choose_either(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "deep" / ".git").mkdir()
    monkeypatch.setenv("HINDNOTE_HOME", str(project / "notes"))

    assert f"inside the project “{project}”" in refusal(notes_home(), project / "deep")


def test_the_person_s_own_home_is_no_project(person: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (person / ".git").mkdir()
    (person / "work").mkdir()
    for home in (None, str(person / "notes")):
        if home:
            monkeypatch.setenv("HINDNOTE_HOME", home)
        notes_home().admit(person)
        notes_home().admit(person / "work")


def test_a_home_directory_that_the_project_sets_does_not_move_the_notes(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(project / "fake"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(project / "fake"))
    (project / "fake/hindnote").mkdir(parents=True)
    listed = f'{{"homes": ["{project}/fake/.agents/notes"]}}'
    for folder in ("fake/hindnote", "fake/.config/hindnote"):
        (project / folder).mkdir(parents=True, exist_ok=True)
        (project / folder / "trusted-homes.json").write_text(listed)

    assert refusal(notes_home(), project).startswith("HOME puts the notes home at")


def test_a_home_that_was_confirmed_counts_as_long_as_it_is_that_folder(
    project: Path, person: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HINDNOTE_HOME", str(project / "notes"))
    set_trusted(frozenset({project / "notes"}))

    notes_home().admit(project)
    monkeypatch.setenv("HINDNOTE_HOME", str(project / "notes/inner"))
    refusal(notes_home(), project)

    monkeypatch.setenv("HINDNOTE_HOME", str(project / "notes"))
    (person / ".ssh").mkdir()
    (project / "notes").symlink_to(person / ".ssh")
    refusal(notes_home(), project)


def test_a_list_that_cannot_be_believed_is_named(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HINDNOTE_HOME", str(project / "notes"))
    set_trusted(frozenset({project / "notes"}))
    file = trust_file()
    assert file is not None
    file.chmod(0o666)

    assert f"{file} is not used: others own it, or may write it" in refusal(notes_home(), project)


# -- a database ----------------------------------------------------------------


def test_without_the_client_a_database_is_refused_with_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HINDNOTE_HOME", "postgresql://ada:secret@db/team")
    monkeypatch.setitem(sys.modules, "psycopg", None)

    with pytest.raises(Refused) as refused:
        notes_home().admit(tmp_path)

    assert refused.value.code == "io_error"
    assert "pip install 'hindnote[postgres]'" in str(refused.value)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        (
            "postgresql://ada:secret@db.example:5433/team",
            "PostgreSQL database “team” on db.example",
        ),
        ("postgres:///team", "PostgreSQL database “team”"),
        ("postgresql://ada:sec[ret@db/team", "PostgreSQL database"),
    ],
)
def test_a_database_is_shown_by_its_name_and_host_alone(
    monkeypatch: pytest.MonkeyPatch, url: str, shown: str
) -> None:
    monkeypatch.setenv("HINDNOTE_HOME", url)

    assert str(notes_home()) == shown
    assert "secret" not in repr(notes_home())
