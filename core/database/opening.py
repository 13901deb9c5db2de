"""A connection to a database, opened and waited for within time limits."""

from __future__ import annotations

import select
import threading
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import psycopg
from psycopg import OperationalError

from hindnote.core.database import problems

if TYPE_CHECKING:
    from psycopg.abc import PQGen

CONNECT_SECONDS = 3.0
STATEMENT_SECONDS = 5.0

GRACE_SECONDS = 1.0
"""How much longer than the server's own limit we wait for its answer to a statement."""

Row: TypeAlias = tuple[Any, ...]
_Value = TypeVar("_Value")

_limit: ContextVar[float | None] = ContextVar("_limit", default=None)
"""When all waiting ends, on the monotonic clock; None: each step has its own limit."""


@contextmanager
def waiting_at_most(seconds: float) -> Iterator[None]:
    """Let all that is asked of databases within the context take at most so long together."""
    token = _limit.set(time.monotonic() + seconds)
    try:
        yield
    finally:
        _limit.reset(token)


def within(seconds: float) -> float:
    """Return how long a step may take that has this limit of its own."""
    end = _limit.get()
    return seconds if end is None else max(0.001, min(seconds, end - time.monotonic()))


class Connection(psycopg.Connection[Row]):
    """A connection on which no statement waits longer than a limit."""

    seconds = STATEMENT_SECONDS + GRACE_SECONDS

    def wait(self, gen: PQGen[_Value], *rest: Any, **options: Any) -> _Value:
        """Wait for the server's answer, but not longer than the limit."""
        return super().wait(_limited(gen, self.seconds), *rest, **options)


def _limited(gen: PQGen[_Value], seconds: float) -> PQGen[_Value]:
    """Run a generator of psycopg until it is done, or raises ``TimeoutError`` when it is late."""

    def run() -> Generator[Any, Any, _Value]:
        end = time.monotonic() + seconds
        try:
            state = next(gen)
            while True:
                ready = yield state
                if time.monotonic() > end:
                    raise TimeoutError
                state = gen.send(ready)
        except StopIteration as done:
            value: _Value = done.value
            return value

    return run()


def is_gone(connection: Connection, error: OperationalError) -> bool:
    """Return whether an error ended the connection, so that the answer will never come."""
    # Class 57P: the server shuts down or crashed; class 08: the connection failed.
    code = error.sqlstate or "08"
    return connection.broken or connection.closed or code.startswith(("08", "57P"))


def is_quiet(connection: Connection) -> bool:
    """Return whether an idle connection has nothing to tell, as it has when the server left."""
    try:
        readable, _, _ = select.select([connection.pgconn.socket], [], [], 0)
    except (psycopg.Error, OSError, ValueError):
        return False
    return not readable


def connected(url: str, name: str) -> Connection:
    """Return a new connection.

    To look up a host's name has no limit of its own, so a thread connects and may be left behind.

    Raises:
        Refused: ``io_error``.
    """
    seconds = within(CONNECT_SECONDS)
    found: list[Connection] = []
    failed: list[Exception] = []
    late = threading.Lock()
    abandoned = False

    def connect() -> None:
        try:
            made = Connection.connect(
                url,
                autocommit=True,
                prepare_threshold=None,
                connect_timeout=max(2, round(seconds)),
                tcp_user_timeout=int(STATEMENT_SECONDS * 1000),
                client_encoding="utf8",
                fallback_application_name="hindnote",
            )
        except (psycopg.Error, OSError, ValueError) as error:
            # A host's name that no system can look up is a ValueError.
            failed.append(error)
            return
        with late:
            found.append(made)
            if abandoned:
                made.close()

    thread = threading.Thread(target=connect, daemon=True, name="hindnote-connect")
    thread.start()
    thread.join(seconds)
    with late:
        if found:
            return found[0]
        abandoned = True
    raise problems.connecting(name, failed[0] if failed else None)
