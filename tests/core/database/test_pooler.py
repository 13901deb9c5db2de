"""A pooler in transaction mode between hindnote and the server: statements share connections."""

from __future__ import annotations

import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator

import pytest
from postgres import PASSWORD, Cluster, free_port, unprivileged

pytest.importorskip("psycopg", reason="needs psycopg (hindnote[postgres])")

from hindnote.core.database.connection import Database
from hindnote.core.notes.edits import Replacement
from hindnote.core.notes.store import Store
from hindnote.core.places.database_home import DatabaseHome
from hindnote.core.plugins.models import Identity


@pytest.fixture
def pooled(team: Cluster) -> Iterator[str]:
    """The address of the database behind PgBouncer, with one connection for all clients."""
    program = shutil.which("pgbouncer") or shutil.which("pgbouncer", path="/usr/sbin")
    if program is None:
        pytest.skip("needs PgBouncer")
    port = free_port()
    settings, users = team.folder / "pgbouncer.ini", team.folder / "users.txt"
    users.write_text(f'"ada" "{PASSWORD}"\n')
    settings.write_text(
        f"[databases]\nteam = host=127.0.0.1 port={team.port} pool_size=1\n"
        f"[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\n"
        f"auth_type = scram-sha-256\nauth_file = {users}\npool_mode = transaction\n"
    )
    process = subprocess.Popen(
        [program, str(settings)], user=unprivileged(), stderr=subprocess.DEVNULL
    )
    try:
        for _ in range(100):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            threading.Event().wait(0.05)
        yield team.url("team", "ada").replace(f":{team.port}/", f":{port}/")
    finally:
        process.terminate()
        process.wait(10)
        for file in (settings, users):
            file.unlink()


def test_notes_are_changed_by_many_through_one_connection(pooled: str) -> None:
    home = DatabaseHome(pooled)
    store = Store(Identity(home, "pi", "s1", "me", "m"), "shop-0123abcd")
    note = store.homes.parse("@project/shared")
    store.write(note, "END\n", "self")

    def append(who: int) -> None:
        for number in range(10):
            store.update(note, [Replacement("END\n", f"{who}-{number}\nEND\n")])

    threads = [threading.Thread(target=append, args=(who,)) for who in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    assert len(store.read(note).note.body.splitlines()) == 41


def test_nothing_is_left_in_a_connection_for_whoever_gets_it_next(pooled: str) -> None:
    database = Database(pooled)
    database.read("SELECT %s::text", ["x"])
    import psycopg

    with psycopg.connect(pooled, autocommit=True, prepare_threshold=None) as other:
        prepared = other.execute("SELECT count(*) FROM pg_prepared_statements").fetchone()
        limit = other.execute("SELECT current_setting('statement_timeout')").fetchone()
    database.close()

    assert (prepared, limit) == ((0,), ("0",))
