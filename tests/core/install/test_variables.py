"""What a person's environment says of the notes home, as an installation checks and records it."""

from __future__ import annotations

from pathlib import Path

import pytest

from hindnote.core.install.variables import NoWholePath, check_whole_paths, home_to_record

pytest.importorskip("psycopg", reason="needs psycopg (hindnote[postgres])")

SECRET = "mark-4f1c-secret"


@pytest.fixture(autouse=True)
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("home", "project", "trust"):
        monkeypatch.setattr(f"hindnote.core.places.{module}.person_home", lambda: tmp_path)
    monkeypatch.chdir(tmp_path)


def confirm(url: str) -> None:
    from hindnote.core.database.settings import settings_of
    from hindnote.core.places.trust import set_trusted

    set_trusted(frozenset(), [settings_of(url)])


def told() -> str:
    with pytest.raises(NoWholePath) as refused:
        home_to_record()
    assert SECRET not in str(refused.value)
    return str(refused.value)


def test_a_confirmed_database_is_recorded_unless_its_address_has_a_password(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HINDNOTE_HOME", "postgresql://ada@db/team")
    check_whole_paths("HINDNOTE_HOME", tilde=True)
    assert "nobody has confirmed it" in told()
    confirm("postgresql://ada@db/team")

    assert home_to_record() == "postgresql://ada@db/team"
    monkeypatch.setenv("HINDNOTE_HOME", f"postgresql://ada:{SECRET}@db/team")
    check_whole_paths("HINDNOTE_HOME", tilde=True)
    assert "holds a password" in told()


@pytest.mark.parametrize(("named", "recorded"), [("", None), ("/n", "/n")])
def test_a_folder_is_recorded_as_it_is(
    monkeypatch: pytest.MonkeyPatch, named: str, recorded: str | None
) -> None:
    monkeypatch.setenv("HINDNOTE_HOME", named)

    assert home_to_record() == recorded


def test_another_address_than_a_database_s_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HINDNOTE_HOME", f"mysql://ada:{SECRET}@db/team")

    with pytest.raises(NoWholePath) as refused:
        check_whole_paths("HINDNOTE_HOME", tilde=True)
    assert SECRET not in str(refused.value)
