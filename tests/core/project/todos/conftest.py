"""A todo that is about to move, and faults that strike while it does."""

from __future__ import annotations

import hashlib
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest

from hindnote.core.project.run import ToolAnswer, run_tool

# The helpers of this folder are imported by its tests under their own name.
sys.path.insert(0, str(Path(__file__).parent))

STEPS = ("mkdir", "fsync", "link", "rename", "unlink", "open")
"""The calls with which files change; ``open`` only where it creates."""


def digest(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


@dataclass
class Project:
    """A project with one todo that waits to be moved."""

    base: Path

    SOURCE: ClassVar = "007-pending-p1-fix-it.md"
    TARGET: ClassVar = "007-ready-p1-fix-it.md"
    CONTENT: ClassVar = b"---\n# why\nissue_id: '007'\nstatus: pending # now\npriority: p1\nx: [a, b]\r\n---\nb\r\nc"
    MOVED: ClassVar = CONTENT.replace(b"pending", b"ready")

    @property
    def todos(self) -> Path:
        return self.base / "todos"

    def reset(self) -> None:
        """Make it as it was in the beginning."""
        for path in sorted(self.base.rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
        self.todos.mkdir()
        (self.todos / self.SOURCE).write_bytes(self.CONTENT)

    def move(self) -> ToolAnswer:
        """Make the transition."""
        arguments = {
            "path": f"todos/{self.SOURCE}",
            "to_status": "ready",
            "expected_content_hash": digest(self.CONTENT),
        }
        return run_tool("project_todo_transition", arguments, base_cwd=self.base)

    def allocate(self) -> ToolAnswer:
        """Make some other mutation."""
        return run_tool("project_todo_allocate", {}, base_cwd=self.base)

    def files(self) -> dict[str, bytes]:
        """Return what lies in the todos root."""
        return {path.name: path.read_bytes() for path in self.todos.iterdir()}

    def leftovers(self) -> list[str]:
        """Return what is left of journals and staging."""
        return [
            path.name
            for folder in ("todo-transitions", "todo-staging")
            for path in (self.base / ".hindnote" / folder).glob("*")
        ]

    def killed(self, strike: Callable[[], Any]) -> bool:
        """Run something in a child process; return whether a SIGKILL ended it."""
        child = os.fork()
        if child == 0:
            try:
                strike()
            except BaseException:  # noqa: BLE001 - the child must end here, whatever happens
                sys.__excepthook__(*sys.exc_info())
                os._exit(1)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if os.WIFSIGNALED(status):
            assert os.WTERMSIG(status) == signal.SIGKILL
            return True
        assert os.WEXITSTATUS(status) == 0
        return False


@pytest.fixture
def project(base: Path) -> Iterator[Project]:
    """Return the project, in memory where there is such a place: these tests sync a lot."""
    memory = Path("/dev/shm")
    if not os.access(memory, os.W_OK):
        made = Project(base)
        made.reset()
        yield made
        return
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        made = Project(Path(folder))
        made.reset()
        yield made


@contextmanager
def striking(
    at: int, strike: Callable[[], None], *, after: bool, again: bool
) -> Iterator[list[str]]:
    """Strike at the n-th call that changes files, before or after it is made.

    Args:
        at: Which call, from 0.
        strike: What happens there.
        after: Whether the call is made first.
        again: Whether every later call is struck too.

    Yields:
        The names of the calls made so far.
    """
    made: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        for name in STEPS:
            patch.setattr(
                os, name, _struck(getattr(os, name), name, made, at, strike, after, again)
            )
        yield made


def _struck(
    real: Callable[..., Any],
    name: str,
    made: list[str],
    at: int,
    strike: Callable[[], None],
    after: bool,
    again: bool,
) -> Callable[..., Any]:
    def call(*arguments: Any, **options: Any) -> Any:
        if name == "open" and not (len(arguments) > 1 and arguments[1] & os.O_CREAT):
            return real(*arguments, **options)
        number = len(made)
        made.append(name)
        hit = number >= at if again else number == at
        if hit and not after:
            strike()
        try:
            return real(*arguments, **options)
        finally:
            if hit and after:
                strike()

    return call


@pytest.fixture
def strikes() -> Callable[..., Any]:
    return striking


@pytest.fixture
def run_in() -> Callable[..., ToolAnswer]:
    """Return a function that calls a tool in a project."""

    def call(project: Project, name: str, **arguments: Any) -> ToolAnswer:
        return run_tool(f"project_{name}", arguments, base_cwd=project.base)

    return call
