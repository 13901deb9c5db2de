"""An agent that uses the five operations in one session and one project."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from postgres import Cluster

from hindnote.core.delivery.budget import Budget, measure
from hindnote.core.errors import Refusal, Refused
from hindnote.core.history.source import HistorySource
from hindnote.core.notes import read_counts
from hindnote.core.notes.statements import key_of
from hindnote.core.notes.store import Store
from hindnote.core.places.database_home import DatabaseHome
from hindnote.core.plugins.models import HostCall, Identity
from hindnote.core.tools.operation import BoundCall
from hindnote.core.tools.outcome import Result, Success, wire
from hindnote.core.tools.registry import registry

OPERATIONS = {name: each for name, each in registry().items() if each.family == "notes"}
KEY = "shop-0123abcd"


class Agent:
    """Calls operations as a dispatcher would, and checks what holds for every answer."""

    def __init__(self, home: Any, cwd: Path, session: str | None = "s1", agent: str = "me") -> None:
        self.home = home
        self.cwd = cwd
        self.identity = Identity(home, "pi", session, agent, "model-1")

    def outcome(self, name: str, **arguments: Any) -> Success[Any] | Refusal:
        operation = OPERATIONS[name]
        bound = BoundCall(
            HostCall(host="pi", cwd=self.cwd),
            self.identity,
            self.cwd,
            self.cwd,
            Budget(),
            cast("HistorySource", None),
        )
        try:
            outcome = operation.handle(bound, operation.bind(arguments))
        except Refused as refused:
            assert refused.code in operation.codes
            return refused.refusal
        assert isinstance(outcome, Success)
        self.text = operation.render(outcome.data)
        assert Budget().allows(measure(cast("Result", outcome.data), self.text))
        return outcome

    def __getattr__(self, name: str) -> Any:
        """Return a caller of ``notes_<name>`` that gives the wire result of a success."""
        if f"notes_{name}" not in OPERATIONS:
            raise AttributeError(name)

        def call(**arguments: Any) -> dict[str, Any]:
            outcome = self.outcome(f"notes_{name}", **arguments)
            assert isinstance(outcome, Success), outcome
            self.extras = dict(outcome.extras)
            return json.loads(json.dumps(wire(outcome)))

        return call

    def refused(self, name: str, **arguments: Any) -> Refusal:
        outcome = self.outcome(f"notes_{name}", **arguments)
        assert isinstance(outcome, Refusal), outcome
        return outcome

    def code(self, name: str, **arguments: Any) -> str:
        return self.refused(name, **arguments).code

    def path(self, address: str) -> Any:
        """Return where a note lies: a file, or what can be done with a row as with a file."""
        return self.home.joinpath(*self.store.homes.parse(address).segments)

    def put(self, address: str, data: bytes | str, second: int | None = None) -> Any:
        """Put a file where a note lies, as a person would; ``second`` puts changes in an order."""
        path = self.path(address)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        if second is not None:
            os.utime(path, (1_700_000_000 + second,) * 2)
        return path

    def bytes(self, address: str) -> bytes:
        return bytes(self.path(address).read_bytes())

    def set_time(self, address: str, ns: int) -> None:
        """Set the time of a note's last change, as a person's save by hand does."""
        os.utime(self.path(address), ns=(ns, ns))

    def count(self, address: str) -> tuple[int, int] | None:
        """Return how often a note was read, and when last."""
        known = read_counts.counts(self.home) if self.home.exists() else {}
        return known.get("/".join(self.store.homes.parse(address).segments))

    def notebook(self) -> dict[str, bytes]:
        """Return the notes of the session's own notebook, by path."""
        folder = self.home / "pi" / "session" / self.identity.session_id
        return {
            str(path.relative_to(folder)): path.read_bytes()
            for path in folder.rglob("*.md")
            if path.is_file()
        }

    def in_session(self, session: str) -> Agent:
        """Return an agent of the same home in another session."""
        return Agent(self.home, self.cwd, session)

    def addresses(self, **arguments: Any) -> list[str]:
        return [row["address"] for row in self.list(**arguments)["files"]]

    @property
    def store(self) -> Store:
        from hindnote.core.places.project import project_key

        return Store(self.identity, project_key(self.cwd))

    def files(self) -> list[str]:
        """Return every file under the home but the store's own."""
        found = (path for path in self.home.rglob("*") if path.is_file() or path.is_symlink())
        relative = (path.relative_to(self.home) for path in found)
        return sorted(str(path) for path in relative if path.parts[0] != ".hindnote")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    path = tmp_path / "shop"
    (path / ".git").mkdir(parents=True)
    return path


class RowFile:
    """A note in a database, with what the tests do with a file."""

    def __init__(self, agent: DatabaseAgent, address: str) -> None:
        self._team = agent.team
        self._storage = agent.store.files
        self._segments = agent.store.homes.parse(address).segments

    def read_bytes(self) -> bytes:
        return self._storage.reading(self._segments, "").read(2**24).data or b""

    def read_text(self, *_: object) -> str:
        return self.read_bytes().decode()

    def write_bytes(self, data: bytes, mtime_ns: int | None = None) -> None:
        mtime_ns = mtime_ns or time.time_ns()
        place = self._storage.writing(self._segments, "", make=True)
        put = place.create if place.is_free else place.replace
        put(data, mtime_ns=mtime_ns)

    def write_text(self, text: str, *_: object) -> None:
        self.write_bytes(text.encode())

    def exists(self) -> bool:
        return not self._storage.reading(self._segments, "").is_free

    is_file = exists

    def stat(self) -> SimpleNamespace:
        note = self._storage.reading(self._segments, "").read(2**24)
        return SimpleNamespace(st_mtime_ns=note.mtime_ns)

    def unlink(self) -> None:
        key = key_of(self._segments)
        self._team.sql(f"DELETE FROM hindnote.notes WHERE (home, path) = {key[1:]}", "team")

    def __str__(self) -> str:
        return self._storage.shown(self._segments)

    def __fspath__(self) -> str:
        pytest.fail("this test is about files: mark it with folder_home")


class DatabaseAgent(Agent):
    """An agent whose notes are in a database."""

    team: Cluster

    def path(self, address: str) -> Any:
        return RowFile(self, address)

    def put(self, address: str, data: bytes | str, second: int | None = None) -> Any:
        made = RowFile(self, address)
        mtime_ns = None if second is None else (1_700_000_000 + second) * 10**9
        made.write_bytes(data if isinstance(data, bytes) else data.encode(), mtime_ns)
        return made

    def set_time(self, address: str, ns: int) -> None:
        made = RowFile(self, address)
        made.write_bytes(made.read_bytes(), ns)

    def count(self, address: str) -> tuple[int, int] | None:
        key = key_of(self.store.homes.parse(address).segments)
        query = f"SELECT count, last_ms FROM hindnote.reads WHERE (home, path) = {key[1:]}"
        found: list[Any] = self.team.sql(query, "team")
        return found[0] if found else None

    def notebook(self) -> dict[str, bytes]:
        home = f"pi/session/{self.identity.session_id}"
        query = f"SELECT path, data FROM hindnote.notes WHERE home = '{home}' AND data IS NOT NULL"
        found: list[Any] = self.team.sql(query, "team")
        return dict(found)

    def in_session(self, session: str) -> Agent:
        made = DatabaseAgent(self.home, self.cwd, session)
        made.team = self.team
        return made

    def files(self) -> list[str]:
        query = "SELECT home || '/' || path FROM hindnote.notes WHERE data IS NOT NULL"
        return sorted(str(name) for (name,) in self.team.sql(query, "team"))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run each test with an agent over both kinds of home, unless it is about files."""
    if "agent_class" in metafunc.fixturenames:
        folder_only = metafunc.definition.get_closest_marker("folder_home") is not None
        classes = [Agent] if folder_only else [Agent, DatabaseAgent]
        names = {Agent: "folder", DatabaseAgent: "database"}
        metafunc.parametrize("agent_class", classes, ids=names.__getitem__)


@pytest.fixture
def agent(
    tmp_path: Path, project: Path, agent_class: type[Agent], request: pytest.FixtureRequest
) -> Agent:
    if agent_class is Agent:
        return Agent(tmp_path / "notes", project)
    team: Cluster = request.getfixturevalue("team")
    made = DatabaseAgent(DatabaseHome(team.url("team", "ada")), project)
    made.team = team
    return made
