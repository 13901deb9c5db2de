"""Changes of notes in a database by many at once, while clients, server and connections die.

``tox -e thorough`` runs them whole, any other run a tenth.
"""

from __future__ import annotations

import json
import random
import select
import socket
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Self

import pytest
from postgres import Cluster, needs

pytest.importorskip("psycopg", reason="needs psycopg (hindnote[postgres])")

from hindnote.core.errors import Refused
from hindnote.core.fs.names import same_elsewhere
from hindnote.core.notes.address import Address
from hindnote.core.notes.edits import Replacement
from hindnote.core.notes.renaming import rename
from hindnote.core.notes.store import Store
from hindnote.core.places.database_home import DatabaseHome
from hindnote.core.plugins.models import Identity

pytestmark = pytest.mark.campaign

Rounds = Callable[[int], int]
UNKNOWN = "it may or may not have been carried out; read before you repeat"


def store_of(url: str) -> Store:
    return Store(Identity(DatabaseHome(url), "pi", "s1", "me", "model-1"), "shop-0123abcd")


def append(store: Store, note: str, mark: str) -> str:
    """Append a line to a note; return ``done``, ``unknown`` or ``refused``."""
    edit = Replacement("END\n", f"{mark}\nEND\n")
    while True:
        try:
            store.update(store.homes.parse(note), [edit])
        except Refused as refused:
            if refused.code == "changed":
                continue
            assert refused.code == "io_error"
            return "unknown" if UNKNOWN in str(refused) else "refused"
        return "done"


def lines(store: Store, notes: list[str]) -> Counter[str]:
    """Return the lines of some notes, each of which is whole."""
    found: Counter[str] = Counter()
    for note in notes:
        body = store.read(store.homes.parse(note)).note.body
        assert body.endswith("END\n")
        found.update(body.splitlines()[:-1])
    return found


def check(found: Counter[str], outcomes: dict[str, str]) -> None:
    """Check that what is there is what was told of each change."""
    assert set(found.values()) <= {1}
    assert [mark for mark, told in outcomes.items() if told == "done" and mark not in found] == []
    assert [mark for mark, told in outcomes.items() if told == "refused" and mark in found] == []
    assert found.keys() <= outcomes.keys()


CLIENTS = """
import json, random, sys, threading
sys.path[:0] = {path!r}
from test_database_campaigns import append, store_of

url, first, changes, notes = json.loads(sys.argv[1])
done = []

def run(client):
    store, chance = store_of(url), random.Random(client)
    for number in range(changes):
        mark = f"{{client}}-{{number}}"
        done.append((mark, append(store, chance.choice(notes), mark)))

threads = [threading.Thread(target=run, args=(first + n,)) for n in range(16)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(json.dumps(done))
""".format(path=[str(Path(__file__).parent), str(Path(__file__).parents[2] / "servers")])


def test_of_ten_thousand_changes_by_64_clients_none_is_lost(team: Cluster, rounds: Rounds) -> None:
    url = team.url("team", "ada")
    store = store_of(url)
    notes = [f"@project/n{number}.md" for number in range(200)]
    for note in notes:
        store.write(store.homes.parse(note), "END\n", "self")
    each = rounds(10_000) // 64 + 1

    clients = [
        subprocess.Popen(
            [sys.executable, "-c", CLIENTS, json.dumps([url, first, each, notes])],
            stdout=subprocess.PIPE,
        )
        for first in range(0, 64, 16)
    ]
    outcomes: dict[str, str] = {}
    for client in clients:
        outcomes |= dict(json.loads(client.communicate(timeout=280)[0]))

    assert Counter(outcomes.values()) == {"done": 64 * each}
    found = lines(store, notes)
    check(found, outcomes)
    assert found.total() == 64 * each
    [kept] = team.sql("SELECT count(*) FROM hindnote.changes", "team")
    assert kept == (200 + 64 * each,)


KILLED = """
import os, random, signal, sys, time
sys.path[:0] = {path!r}
from test_database_campaigns import append, store_of

url, rounds, file = sys.argv[1], int(sys.argv[2]), open(sys.argv[3], "a", buffering=1)
chance = random.Random(7)
for number in range(rounds):
    done, told = os.pipe()
    child = os.fork()
    if not child:
        store = store_of(url)
        for change in range(1000):
            mark = f"{{number}}-{{change}}"
            file.write(f"begun {{mark}}\\n")
            if append(store, "@project/shared", mark) == "done":
                file.write(f"done {{mark}}\\n")
                os.write(told, b"x")
        os._exit(0)
    for _ in range(chance.randrange(1, 6)):
        os.read(done, 1)
    time.sleep(chance.uniform(0, 0.003))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os.close(done)
    os.close(told)
""".format(path=[str(Path(__file__).parent), str(Path(__file__).parents[2] / "servers")])


def test_a_client_killed_at_any_moment_leaves_whole_notes_and_loses_nothing(
    team: Cluster, rounds: Rounds, tmp_path: Path
) -> None:
    url = team.url("team", "ada")
    store = store_of(url)
    store.write(store.homes.parse("@project/shared"), "END\n", "self")
    file = tmp_path / "told"
    subprocess.run(
        [sys.executable, "-c", KILLED, url, str(rounds(400)), str(file)], check=True, timeout=280
    )

    outcomes: dict[str, str] = {}
    for line in file.read_text().splitlines():
        told, mark = line.split()
        outcomes[mark] = "unknown" if told == "begun" else "done"
    check(lines(store, ["@project/shared"]), outcomes)
    assert Counter(outcomes.values())["done"] >= rounds(400)


class Appending:
    """Clients in threads, which append to a few notes until they are told to stop."""

    def __init__(self, url: str, notes: list[str], clients: int = 4) -> None:
        self.outcomes: dict[str, str] = {}
        self._stop = threading.Event()
        self._url, self._notes = url, notes
        self._threads = [threading.Thread(target=self._run, args=(n,)) for n in range(clients)]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(60)
            assert not thread.is_alive()

    def _run(self, client: int) -> None:
        store, number, chance = store_of(self._url), 0, random.Random(client)
        while not self._stop.is_set():
            mark, number = f"{client}-{number}", number + 1
            self.outcomes[mark] = "unknown"
            self.outcomes[mark] = append(store, chance.choice(self._notes), mark)

    def done(self) -> int:
        return Counter(list(self.outcomes.values()))["done"]

    def wait(self, more: int = 5) -> None:
        """Wait until some changes more were carried out."""
        wanted = self.done() + more
        for _ in range(6000):
            if self.done() >= wanted:
                return
            self._stop.wait(0.01)
        pytest.fail(f"no change was carried out: {Counter(self.outcomes.values())}")


@pytest.fixture
def crashing() -> Iterator[Cluster]:
    """A server that a test may kill."""
    from hindnote.core.database.connection import Database, close_all
    from hindnote.core.database.migrating import migrate

    made = Cluster(needs())
    try:
        made.start()
        made.sql("CREATE DATABASE team")
        owner = Database(made.url("team"))
        migrate(owner)
        owner.close()
        yield made
    finally:
        close_all()
        made.remove()


def test_a_server_killed_at_any_moment_loses_nothing_acknowledged(
    crashing: Cluster, rounds: Rounds
) -> None:
    store = store_of(crashing.url("team"))
    notes = [f"@project/n{number}" for number in range(4)]
    for note in notes:
        store.write(store.homes.parse(note), "END\n", "self")
    chance = random.Random(3)

    with Appending(crashing.url("team"), notes) as clients:
        for number in range(rounds(100)):
            clients.wait(chance.randrange(1, 12))
            if number % 2:
                crashing.kill_backend()
            else:
                crashing.kill()
                crashing.start_again()
        clients.wait()

    check(lines(store, notes), clients.outcomes)


class Proxy:
    """Forwards to a server, and cuts each connection after a random number of bytes."""

    def __init__(self, port: int, chance: random.Random) -> None:
        self.cuts = 0
        self._to, self._chance = port, chance
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.cutting = True
        self.mute = False
        """Forward no answer any more, and take no new connection."""

        self._closed = False
        self._accepting = threading.Thread(target=self._accept, daemon=True)
        self._accepting.start()

    def close(self) -> None:
        self._closed = True
        self._listener.shutdown(socket.SHUT_RDWR)
        self._accepting.join(10)
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client = self._listener.accept()[0]
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        if self.mute:
            client.close()
            return
        with client, socket.create_connection(("127.0.0.1", self._to)) as server:
            # A connection takes some 700 bytes each way before its first statement.
            left = {end: self._chance.randrange(1, 9_000) for end in (client, server)}
            while not self._closed:
                for source in select.select([client, server], [], [], 0.2)[0]:
                    sink = server if source is client else client
                    if not self._forward(source, sink, left):
                        return

    def _forward(
        self, source: socket.socket, sink: socket.socket, left: dict[socket.socket, int]
    ) -> bool:
        """Forward what arrived; return whether the connection goes on."""
        try:
            data = source.recv(65536)
            if self.mute and source.getpeername()[1] == self._to:
                return False
            cut = self.cutting and len(data) >= left[source]
            sink.sendall(data[: left[source]] if cut else data)
        except OSError:
            return False
        left[source] -= len(data)
        self.cuts += cut
        return bool(data) and not cut


def test_connections_cut_at_any_byte_lose_nothing_and_what_is_unknown_is_called_so(
    team: Cluster, rounds: Rounds
) -> None:
    store = store_of(team.url("team", "ada"))
    notes = [f"@project/n{number}" for number in range(4)]
    for note in notes:
        store.write(store.homes.parse(note), "END\n", "self")
    proxy = Proxy(team.port, random.Random(5))
    url = team.url("team", "ada").replace(f":{team.port}/", f":{proxy.port}/")

    with Appending(url, notes) as clients:
        while proxy.cuts < rounds(1000):
            clients.wait(1)
        proxy.cutting = False
        clients.wait()
    proxy.close()

    check(lines(store, notes), clients.outcomes)


def test_a_note_that_is_moved_over_connections_that_are_cut_is_always_at_one_address(
    team: Cluster, rounds: Rounds
) -> None:
    proxy = Proxy(team.port, random.Random(6))
    url = team.url("team", "ada").replace(f":{team.port}/", f":{proxy.port}/")
    failures: list[str] = []

    def move(client: int) -> None:
        direct, through = store_of(team.url("team", "ada")), store_of(url)
        here, there = (
            direct.homes.parse(address)
            for address in (f"@project/N{client}/a", f"@human/n{client}/b")
        )
        direct.write(here, "whole\n", "self")
        while proxy.cuts < rounds(500):
            with suppress(Refused):
                rename(through, here, there)
            found = [one for one in (here, there) if exists(direct, one)]
            if len(found) != 1:
                failures.append(f"{client}: {found}")
                return
            here, there = found[0], there if found[0] == here else here

    threads = [threading.Thread(target=move, args=(client,)) for client in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(280)
    proxy.close()

    assert failures == []
    [counted] = team.sql("SELECT count(*) FROM hindnote.notes WHERE data IS NOT NULL", "team")
    assert counted == (4,)


def exists(store: Store, address: Address) -> bool:
    """Return whether a note is at an address, and check that it is whole."""
    try:
        return store.read(address).note.body == "whole\n"
    except Refused as refused:
        assert refused.code == "not_found", refused
        return False


def test_names_that_collide_elsewhere_never_come_to_be_side_by_side(
    team: Cluster, rounds: Rounds
) -> None:
    url = team.url("team", "ada")
    names = ["plans/a", "Plans/b", "PLANS", "plans.md/c", "Plans.md", "plans/A", "p/Q/r", "P/q/s"]

    def change(client: int) -> None:
        store, chance = store_of(url), random.Random(client)
        for _ in range(rounds(500)):
            one, other = (store.homes.parse(f"@project/{name}") for name in chance.sample(names, 2))
            with suppress(Refused):
                if chance.random() < 0.5:
                    store.write(one, "x", "self")
                else:
                    rename(store, one, other)

    threads = [threading.Thread(target=change, args=(client,)) for client in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(280)

    rows = team.sql("SELECT path FROM hindnote.notes WHERE data IS NOT NULL", "team")
    paths = [str(path) for (path,) in rows]
    spelled: dict[str, set[tuple[str, bool]]] = {}
    for path in paths:
        parts = path.split("/")
        for end in range(1, len(parts) + 1):
            name = "/".join(parts[:end])
            spelled.setdefault(same_elsewhere(name), set()).add((name, end == len(parts)))
    assert paths
    assert [names for names in spelled.values() if len(names) > 1] == []


def test_a_change_of_which_nobody_can_tell_the_outcome_is_called_unknown(team: Cluster) -> None:
    direct = store_of(team.url("team", "ada"))
    direct.write(direct.homes.parse("@project/n"), "END\n", "self")
    proxy = Proxy(team.port, random.Random(5))
    proxy.cutting = False
    url = team.url("team", "ada").replace(f":{team.port}/", f":{proxy.port}/")
    through = store_of(url)
    address = through.homes.parse("@project/n")
    with through.files.writing(address.segments, str(address)) as place:
        proxy.mute = True
        with pytest.raises(Refused, match=UNKNOWN):
            place.replace(b"new\nEND\n", mtime_ns=1)
    proxy.close()

    # It was carried out; only the answer was lost.
    assert direct.read(address).data == b"new\nEND\n"
