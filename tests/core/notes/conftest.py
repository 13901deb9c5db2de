"""An agent that uses the five operations in one session and one project."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, cast

import pytest

from hindnote.core.delivery.budget import Budget, measure
from hindnote.core.errors import Refusal, Refused
from hindnote.core.history.source import HistorySource
from hindnote.core.notes.store import Store
from hindnote.core.plugins.models import HostCall, Identity
from hindnote.core.tools.operation import BoundCall
from hindnote.core.tools.outcome import Result, Success, wire
from hindnote.core.tools.registry import registry

OPERATIONS = {name: each for name, each in registry().items() if each.family == "notes"}
KEY = "shop-0123abcd"


class Agent:
    """Calls operations as a dispatcher would, and checks what holds for every answer."""

    def __init__(
        self, home: Path, cwd: Path, session: str | None = "s1", agent: str = "me"
    ) -> None:
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

    def path(self, address: str) -> Path:
        """Return where a note lies."""
        return self.home.joinpath(*self.store.homes.parse(address).segments)

    def put(self, address: str, data: bytes | str, second: int | None = None) -> Path:
        """Put a file where a note lies, as a person would; ``second`` puts changes in an order."""
        path = self.path(address)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        if second is not None:
            os.utime(path, (1_700_000_000 + second,) * 2)
        return path

    def bytes(self, address: str) -> bytes:
        return self.path(address).read_bytes()

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


@pytest.fixture
def agent(tmp_path: Path, project: Path) -> Agent:
    return Agent(tmp_path / "notes", project)
