"""Notes in a database, as ratios to bare SQL through the same driver in the same run."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Iterator

import pytest
from postgres import Cluster, needs
from yardstick import SMOKE, said

pytest.importorskip("psycopg", reason="needs psycopg (hindnote[postgres])")

import psycopg

from hindnote.core.database.connection import Database, close_all
from hindnote.core.database.migrating import migrate
from hindnote.core.delivery.budget import Budget
from hindnote.core.notes.operations.list import list_notes
from hindnote.core.notes.operations.models import ListParams, SearchParams
from hindnote.core.notes.operations.search import search_notes
from hindnote.core.notes.store import Store
from hindnote.core.places.database_home import DatabaseHome
from hindnote.core.plugins.models import Identity

COUNT = 2_000 if SMOKE else int(os.environ.get("HINDNOTE_BENCH_ROWS", "1000000"))
IN_PROJECT = 1_000
CHANGES = 50 if SMOKE else 2_000
CHANGE = 3.0
"""Times a bare UPDATE of the same row, at the median and at the 99th percentile."""

LOOK, LOOK_SECONDS = 2.0, 0.02
"""Times bare SQL, and seconds more."""

PROJECT = "project/p000000"
FILL = """
INSERT INTO hindnote.notes
SELECT '', 'project/p' || lpad((n / {each})::text, 6, '0'), path, path, body::bytea,
    gen_random_uuid(), 1e18::bigint + n, 1e12::bigint, 1e12::bigint + n, 1e12::bigint,
    length(body) - 21, NULL, NULL
FROM generate_series(0, {count} - 1) AS n,
    LATERAL (SELECT 'note-' || lpad((n % {each})::text, 5, '0') || '.md' AS path,
        E'---\\norigin: self\\n---\\n# Note ' || n || E'\\n' || repeat(E'Some words of a body.\\n', 25)
        AS body) AS made;
ANALYZE hindnote.notes;
"""


@pytest.fixture(scope="module")
def server() -> Iterator[Cluster]:
    """A server that writes to the disk as a real one does, with all notes."""
    made = Cluster(needs(), durable=True)
    try:
        made.start()
        made.sql("CREATE DATABASE team")
        owner = Database(made.url("team"))
        migrate(owner)
        owner.close()
        made.sql(FILL.format(count=COUNT, each=IN_PROJECT), "team")
        yield made
    finally:
        close_all()
        made.remove()


@pytest.fixture
def store(server: Cluster) -> Store:
    home = DatabaseHome(server.url("team"))
    return Store(Identity(home, "pi", "s1", "me", "m"), "p000000")


@pytest.fixture
def bare(server: Cluster) -> Iterator[psycopg.Connection]:
    with psycopg.connect(server.url("team"), autocommit=True, prepare_threshold=None) as made:
        yield made


def seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def test_a_change_costs_at_most_three_bare_updates(server: Cluster) -> None:
    """Both wait for the disk, which takes most of their time."""
    compare_changes(server, "a disk that is waited for")


def test_without_a_disk_a_change_costs_at_most_three_bare_updates(team: Cluster) -> None:
    compare_changes(team, "no waiting for the disk")


def compare_changes(server: Cluster, disk: str) -> None:
    home = DatabaseHome(server.url("team"))
    store = Store(Identity(home, "pi", "s1", "me", "m"), "p000000")
    address = store.homes.parse("@project/note-00001")
    store.write(address, "Some words of a body.\n" * 25, "self")
    data = store.read(address).data
    updates, changes, wholes = [], [], []
    query = "UPDATE hindnote.notes SET data = %s WHERE owner = '' AND home = %s AND path = %s"

    with psycopg.connect(server.url("team"), autocommit=True, prepare_threshold=None) as bare:
        for number in range(CHANGES):
            new = data + b"%d" % number
            values = [new, PROJECT, address.path[0]]
            updates.append(seconds(lambda values=values: bare.execute(query, values)))
            with store.files.writing(address.segments, str(address)) as place:
                place.read(2**24)
                changes.append(seconds(lambda: place.replace(new, mtime_ns=10**18)))  # noqa: B023
            wholes.append(seconds(lambda: store.write(address, f"{number}\n", "self")))  # noqa: B023

    median, last = (
        (point(updates) * 1000, point(changes) / point(updates))
        for point in (statistics.median, lambda times: sorted(times)[len(times) * 99 // 100])
    )
    said(
        f"{disk}: bare UPDATE {median[0]:.2f} ms; a change {median[1]:.2f} times at the median, "
        f"{last[1]:.2f} times at the 99th percentile; a whole notes_write "
        f"{statistics.median(wholes) * 1000:.2f} ms"
    )
    assert SMOKE or max(median[1], last[1]) <= CHANGE


def test_a_list_costs_little_more_than_its_bare_query(
    store: Store, bare: psycopg.Connection
) -> None:
    query = (
        "SELECT path, updated_ms, chars, archived_at, problem FROM hindnote.notes "
        "WHERE owner = '' AND home = %s AND data IS NOT NULL ORDER BY updated_ms DESC, path"
    )

    def listed() -> None:
        result = list_notes(store, ListParams(), Budget())
        assert len(result.files) + result.more == min(COUNT, IN_PROJECT)

    compare("list", listed, lambda: bare.execute(query, [PROJECT]).fetchall())


def test_a_search_costs_little_more_than_reading_the_bodies(
    store: Store, bare: psycopg.Connection
) -> None:
    query = "SELECT path, data FROM hindnote.notes WHERE owner = '' AND home = %s"

    def searched() -> None:
        search_notes(store, SearchParams(query="# Note 77"), Budget())

    def read() -> None:
        rows = bare.execute(query, [PROJECT]).fetchall()
        assert [path for path, data in rows if "# Note 77\n" in data.decode()]

    compare("search", searched, read)


def compare(name: str, ours: Callable[[], object], theirs: Callable[[], object]) -> None:
    pairs = [(seconds(ours), seconds(theirs)) for _ in range(3 if SMOKE else 15)]
    our, their = (min(times) for times in zip(*pairs, strict=True))
    said(
        f"{name} of {IN_PROJECT:,} notes among {COUNT:,}: {our * 1000:.1f} ms, bare SQL "
        f"{their * 1000:.1f} ms"
    )
    assert SMOKE or our <= LOOK * their + LOOK_SECONDS
