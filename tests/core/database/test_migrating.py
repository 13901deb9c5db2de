"""The versions of the schema: what an empty, an older and a newer database are told."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from postgres import Cluster

pytest.importorskip("psycopg", reason="needs psycopg (hindnote[postgres])")

from hindnote.core.database import migrating, schema
from hindnote.core.database.connection import Database
from hindnote.core.errors import Refused


@pytest.fixture
def empty(cluster: Cluster) -> Iterator[Database]:
    cluster.sql("CREATE DATABASE empty")
    made = Database(cluster.url("empty"))
    yield made
    made.close()
    cluster.sql("DROP DATABASE empty")


def test_an_empty_database_is_no_home_until_it_is_made_one(empty: Database) -> None:
    with pytest.raises(Refused, match="is no notes home"):
        empty.read("SELECT 1")
    with pytest.raises(Refused, match="is no notes home"):
        migrating.check(empty)

    assert migrating.migrate(empty) == (0, schema.KNOWN)
    assert migrating.migrate(empty) == (schema.KNOWN, schema.KNOWN)
    migrating.check(empty)
    assert empty.read("SELECT count(*) FROM hindnote.notes") == [(0,)]


@pytest.mark.parametrize(
    ("version", "todo"),
    [(schema.KNOWN + 1, "install a newer hindnote"), (0, "is no notes home")],
)
def test_a_schema_of_another_version_is_refused_with_what_to_do(
    empty: Database, version: int, todo: str
) -> None:
    migrating.migrate(empty)
    empty.script(f"UPDATE hindnote.version SET version = {version}")

    with pytest.raises(Refused, match=todo):
        migrating.check(empty)
    if version:
        with pytest.raises(Refused, match=todo):
            empty.read("SELECT 1")
        with pytest.raises(Refused, match=todo):
            migrating.migrate(empty)
