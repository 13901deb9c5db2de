"""Statements on a database: time limits, reconnecting, and the outcome of lost changes."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator

import pytest
from postgres import PASSWORD, Cluster

pytest.importorskip("psycopg", reason="needs psycopg (hindnote[postgres])")

from hindnote.core.database.connection import Database
from hindnote.core.database.opening import waiting_at_most
from hindnote.core.errors import Refused

END_OTHERS = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
    "WHERE pid <> pg_backend_pid() AND datname = 'team'"
)


@pytest.fixture
def ada(team: Cluster) -> Iterator[Database]:
    made = Database(team.url("team", "ada"))
    yield made
    made.close()


def refusal(ask: object) -> Refused:
    with pytest.raises(Refused) as refused:
        ask()  # type: ignore[operator]
    assert PASSWORD not in str(refused.value)
    assert "postgresql://ada" not in str(refused.value)
    return refused.value


def test_a_query_returns_its_rows(ada: Database) -> None:
    assert ada.read("SELECT %s::text, %s::bytea", ["it's", b"\0\xff"]) == [("it's", b"\0\xff")]


def test_a_lost_connection_is_replaced(team: Cluster, ada: Database) -> None:
    before = ada.read("SELECT pg_backend_pid()")
    team.sql(END_OTHERS)

    assert ada.read("SELECT pg_backend_pid()") != before


def test_a_statement_that_takes_too_long_is_refused(ada: Database) -> None:
    ada.read("SELECT 1")
    with waiting_at_most(0.2):
        refused = refusal(lambda: ada.read("SELECT pg_sleep(3)"))

    assert refused.code == "io_error"
    assert ada.read("SELECT 1") == [(1,)]


def test_a_server_that_accepts_and_says_nothing_is_left_after_the_limit() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        mute = Database(f"postgresql://ada:{PASSWORD}@127.0.0.1:{port}/team")
        start = time.monotonic()
        with waiting_at_most(0.3):
            refused = refusal(lambda: mute.read("SELECT 1"))

    assert refused.code == "io_error"
    assert time.monotonic() - start < 2
    assert "“team” on “127.0.0.1”" in str(refused)


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("postgresql://ada:mark-4f1c-secret@127.0.0.1:1/team", "nothing listens at its port"),
        ("postgresql://ada:mark-4f1c-secret@%zz/team", "cannot be read"),
        ("postgresql://ada@a%00b/team", "cannot be read"),
        ("postgresql://ada@%1b%5b31m/team", "its host's name is not known here"),
        ("postgresql://?service=no-such", "libpq finds no such service"),
    ],
)
def test_an_address_that_leads_nowhere_is_refused_with_the_reason(url: str, said: str) -> None:
    assert said in str(refusal(lambda: Database(url).read("SELECT 1")))


def test_a_wrong_password_is_named_but_not_shown(team: Cluster) -> None:
    url = team.url("team", "ada").replace(PASSWORD, "x" + PASSWORD)

    assert "does not accept the user's password" in str(refusal(lambda: Database(url).read("")))


@pytest.mark.parametrize("carried_out", [True, False])
def test_after_a_lost_connection_it_is_found_out_what_became_of_a_change(
    team: Cluster, ada: Database, carried_out: bool
) -> None:
    lose = f"SELECT pg_terminate_backend(pg_backend_pid()) WHERE {not carried_out}"
    asked = []

    def settle() -> list[tuple[str]] | None:
        asked.append(1)
        return [("done before",)] if len(asked) == 2 else None

    if carried_out:
        assert ada.change("SELECT 'done'", [], settle) == [("done",)]
        assert asked == []
    else:
        assert ada.change(lose, [], settle) == [("done before",)]
        assert len(asked) == 2


def test_a_change_of_which_nothing_can_be_found_out_is_called_unknown(
    team: Cluster, ada: Database
) -> None:
    ada.read("SELECT 1")

    def settle() -> None:
        raise Refused("io_error", "away")

    lose = "SELECT pg_terminate_backend(pg_backend_pid())"
    refused = refusal(lambda: ada.change(lose, [], settle))

    assert "it may or may not have been carried out; read before you repeat" in str(refused)


def test_a_role_that_may_only_read_is_told_so(team: Cluster) -> None:
    guest = Database(team.url("team", "guest"))

    refused = refusal(lambda: guest.read("DELETE FROM hindnote.notes"))

    assert refused.code == "read_only_home"
    guest.close()


def test_a_script_whose_connection_is_lost_is_called_unknown(ada: Database) -> None:
    refused = refusal(lambda: ada.script("SELECT pg_terminate_backend(pg_backend_pid())"))

    assert "it may or may not have been carried out" in str(refused)


def test_a_statement_that_loses_against_others_is_sent_again(team: Cluster, ada: Database) -> None:
    """As a serialization failure of any kind, here from a function that fails twice."""
    team.sql(
        "CREATE SEQUENCE public.tries; GRANT USAGE ON SEQUENCE public.tries TO ada;"
        "CREATE FUNCTION public.fails() RETURNS bigint LANGUAGE plpgsql AS $$ DECLARE n bigint; "
        "BEGIN n := nextval('public.tries'); IF n < 3 THEN RAISE 'again' "
        "USING ERRCODE = 'serialization_failure'; END IF; RETURN n; END $$",
        "team",
    )
    try:
        assert ada.read("SELECT public.fails()") == [(3,)]
    finally:
        team.sql("DROP FUNCTION public.fails(); DROP SEQUENCE public.tries", "team")
