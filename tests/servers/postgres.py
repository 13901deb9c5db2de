"""A PostgreSQL server of the tests' own: in a temporary folder, stopped by that folder."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

PASSWORD = "mark-4f1c-secret"
"""The password of each role; no output may contain it."""


def programs() -> Path | None:
    """Return the folder of the server's programs, the newest that Debian's packages installed."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), reverse=True)
    if found:
        return found[0].parent
    other = shutil.which("initdb")
    return Path(other).parent if other else None


def unprivileged() -> str | None:
    """Return the user as whom the server runs, which refuses root; None: as ourselves."""
    if os.getuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name).pw_name
        except KeyError:
            continue
    pytest.skip("needs a user other than root, as whom PostgreSQL runs")


class Cluster:
    """A server with its data; it listens on loopback and on a socket in its folder."""

    def __init__(self, bin_folder: Path, *, durable: bool = False) -> None:
        self.bin = bin_folder
        self._user = unprivileged()
        self.folder = Path(tempfile.mkdtemp(prefix="hindnote-pg-", dir="/tmp"))
        self.data = self.folder / "data"
        self.port = free_port()
        if self._user is not None:
            shutil.chown(self.folder, self._user)
        secret = self.folder / "password"
        secret.write_text(PASSWORD)
        if self._user is not None:
            shutil.chown(secret, self._user)
        self._run(
            "initdb", "-D", str(self.data), "-U", "admin", "-E", "UTF8", "--locale=C.UTF-8",
            "--auth=scram-sha-256", f"--pwfile={secret}", *([] if durable else ["--no-sync"]),
        )  # fmt: skip
        with (self.data / "postgresql.conf").open("a") as settings:
            settings.write(
                f"port = {self.port}\nlisten_addresses = '127.0.0.1'\n"
                f"unix_socket_directories = '{self.folder}'\nmax_connections = 200\n"
                f"shared_buffers = 64MB\nfsync = {'on' if durable else 'off'}\n"
            )

    def start(self) -> None:
        """Start the server, and wait until it answers."""
        log = self.folder / "log"
        self._run("pg_ctl", "-D", str(self.data), "-w", "-t", "60", "-l", str(log), "start")

    def stop(self, mode: str = "fast") -> None:
        """Stop the server: ``immediate`` leaves it as a crash does."""
        self._run("pg_ctl", "-D", str(self.data), "-w", "-m", mode, "stop")

    def kill(self) -> None:
        """Kill the server's first process at once; its others notice and end."""
        pid = int((self.data / "postmaster.pid").read_text().split("\n")[0])
        os.kill(pid, signal.SIGKILL)

    def kill_backend(self) -> None:
        """Kill one of the processes that serve clients; the server then starts afresh."""
        found = self.sql("SELECT pid FROM pg_stat_activity WHERE datname = 'team' LIMIT 1")
        for (pid,) in found:
            os.kill(int(str(pid)), signal.SIGKILL)

    def start_again(self) -> None:
        """Start the server after it was killed, once the last of its processes has ended."""
        for _ in range(100):
            try:
                self.start()
            except AssertionError:
                time.sleep(0.05)
            else:
                return
        pytest.fail((self.folder / "log").read_text()[-2000:])

    def remove(self) -> None:
        """Stop the server, if it runs, and remove its folder."""
        if (self.data / "postmaster.pid").exists():
            self.stop("immediate")
        shutil.rmtree(self.folder)

    def url(self, database: str, user: str = "admin") -> str:
        """Return the address of a database, over loopback and with the password."""
        return f"postgresql://{user}:{PASSWORD}@127.0.0.1:{self.port}/{database}"

    def sql(
        self, text: str, database: str = "postgres", user: str = "admin"
    ) -> list[tuple[object, ...]]:
        """Run statements outside of a transaction, and return the rows of the last."""
        import psycopg

        with psycopg.connect(self.url(database, user), autocommit=True) as connection:
            done = connection.execute(text.encode())
            return done.fetchall() if done.description else []

    def _run(self, program: str, *arguments: str) -> None:
        done = subprocess.run(
            [str(self.bin / program), *arguments],
            user=self._user,
            group=None if self._user is None else pwd.getpwnam(self._user).pw_gid,
            extra_groups=None if self._user is None else [],
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, f"{program}: {done.stderr.decode(errors='replace')}"


def free_port() -> int:
    """Return a port on which nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as found:
        port: int = found.getsockname()[1]
    return port


def needs() -> Path:
    """Return the folder of the server's programs, or skip the test with the reason."""
    pytest.importorskip("psycopg", reason="needs psycopg (hindnote[postgres])")
    found = programs()
    if found is None:
        pytest.skip("needs the programs of PostgreSQL, such as initdb")
    return found


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """A server for all tests of this process; one that crashes it must start its own."""
    made = Cluster(needs())
    try:
        made.start()
        yield made
    finally:
        made.remove()


@pytest.fixture(scope="session")
def _database(cluster: Cluster) -> str:
    """A database with our schema and two people, of whom ``guest`` may only read."""
    from hindnote.core.database.connection import Database
    from hindnote.core.database.migrating import migrate

    cluster.sql("CREATE DATABASE team")
    owner = Database(cluster.url("team"))
    migrate(owner)
    owner.close()
    for user, role in (("ada", "writer"), ("ben", "writer"), ("guest", "reader")):
        cluster.sql(
            f"CREATE ROLE {user} LOGIN PASSWORD '{PASSWORD}'; GRANT hindnote_{role} TO {user}"
        )
    return "team"


@pytest.fixture
def team(cluster: Cluster, _database: str) -> Iterator[Cluster]:
    """The server, whose database ``team`` holds an empty notes home.

    Its address for one of the people is ``team.url("team", "ada")``.
    """
    from hindnote.core.database.connection import close_all

    found = cluster.sql("SELECT tablename FROM pg_tables WHERE schemaname = 'hindnote'", "team")
    names = [f"hindnote.{name}" for (name,) in found if name != "version"]
    # Faster than TRUNCATE for tables this small, which makes new files.
    cluster.sql("".join(f"DELETE FROM {name};" for name in names), "team")
    yield cluster
    close_all()
