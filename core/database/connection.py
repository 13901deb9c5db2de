"""Run statements on a database within time limits, over connections that are replaced when lost.

A statement goes out as one message, together with ``SET LOCAL`` for its time limit, and so is a
transaction of its own. Nothing is prepared and no state is kept between messages, so a pooler in
transaction mode may stand in between.
"""

from __future__ import annotations

import os
import random
import select
import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import psycopg
from psycopg import ClientCursor, OperationalError, errors

from hindnote.core.database import problems
from hindnote.core.database.address import name_of
from hindnote.core.database.schema import KNOWN, VERSION_QUERY
from hindnote.core.errors import Refused

if TYPE_CHECKING:
    from psycopg.abc import PQGen

CONNECT_SECONDS = 3.0
STATEMENT_SECONDS = 5.0

GRACE_SECONDS = 1.0
"""How much longer than the server's own limit we wait for its answer to a statement."""

AGAIN_SECONDS = 0.1
"""Pause before the outcome of a lost change is asked for again."""

_IDLE = 32
"""Maximum number of idle connections to one database that a process keeps."""

Row: TypeAlias = tuple[Any, ...]
Values: TypeAlias = Sequence[object] | Mapping[str, object]
T = TypeVar("T")
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


def _within(seconds: float) -> float:
    end = _limit.get()
    return seconds if end is None else max(0.001, min(seconds, end - time.monotonic()))


class ConflictError(Exception):
    """The statement would have made two rows of one name, or undid itself; it changed nothing.

    A statement undoes itself by dividing by zero.
    """


class _AgainError(Exception):
    """The statement lost against another one of the same moment, and changed nothing."""


class LostError(Exception):
    """The connection was lost before the answer to a statement arrived."""


class _Connection(psycopg.Connection[Row]):
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


class Database:
    """A database that holds a notes home.

    Args:
        url: Its address, as libpq takes it.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self.name = name_of(url)
        """The database and its host, for messages."""

        self._idle: list[_Connection] = []
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._checked = False

    def __repr__(self) -> str:
        """Return the name, without the address."""
        return f"Database({self.name})"

    # -- statements ----------------------------------------------------------------------

    def read(self, query: str, values: Values = ()) -> list[Row]:
        """Return the rows that a query finds; it is sent again after a lost connection.

        Raises:
            Refused: ``io_error``.
        """
        try:
            return self._carry_out(query, values)
        except LostError:
            pass
        try:
            return self._carry_out(query, values)
        except LostError:
            raise problems.connecting(self.name, None) from None

    def change(
        self,
        query: str,
        values: Values,
        settle: Callable[[], list[Row] | None],
    ) -> list[Row]:
        """Carry out a statement that changes something, once, and return its rows.

        Args:
            query: The statement.
            values: Its values.
            settle: Finds out after a lost connection what became of the statement. It returns the
                statement's rows if it was carried out; None if it was not and never will be, and
                then it is sent once more.

        Raises:
            ConflictError: It would have made two rows of one name, and changed nothing.
            Refused: ``io_error``; its message says so when the outcome is unknown.
                ``read_only_home``.
        """
        for last in (False, True):
            try:
                return self._carry_out(query, values)
            except LostError:
                rows = self._settled(settle)
                if rows is not None:
                    return rows
                if last:
                    raise problems.connecting(self.name, None) from None
        raise AssertionError

    def _settled(self, settle: Callable[[], list[Row] | None]) -> list[Row] | None:
        """Return what ``settle`` finds out, which is tried while the server comes back.

        Raises:
            Refused: ``io_error``; the outcome is unknown.
        """
        end = time.monotonic() + _within(CONNECT_SECONDS)
        while True:
            try:
                return settle()
            except (LostError, Refused):
                if time.monotonic() + AGAIN_SECONDS > end:
                    raise problems.lost(self.name) from None
            time.sleep(AGAIN_SECONDS)

    def script(self, query: str, *, seconds: float = 600.0) -> None:
        """Run several statements as one transaction, without looking at the schema's version.

        Raises:
            Refused: ``io_error``, ``read_only_home``.
        """
        try:
            with self._connection(checked=False) as connection:
                connection.seconds = seconds
                self._send(connection, query.encode())
        except LostError:
            raise problems.lost(self.name) from None
        except (ConflictError, _AgainError):
            raise problems.contended(self.name) from None

    def look(self, query: str, values: Values = ()) -> list[Row]:
        """Return the rows that a query finds, without looking at the schema's version.

        Raises:
            Refused: ``io_error``.
        """
        try:
            return self._carry_out(query, values, checked=False)
        except LostError:
            raise problems.connecting(self.name, None) from None

    def _carry_out(self, query: str, values: Values, *, checked: bool = True) -> list[Row]:
        """Send a statement, and again while it loses against others of the same moment."""
        end = time.monotonic() + STATEMENT_SECONDS
        while True:
            try:
                with self._connection(checked=checked) as connection:
                    seconds = _within(STATEMENT_SECONDS)
                    connection.seconds = seconds + GRACE_SECONDS * (seconds == STATEMENT_SECONDS)
                    limit = max(1, int(seconds * 1000))
                    text = f"SET LOCAL statement_timeout = {limit}; {query}"
                    return self._send(connection, text.encode(), values)
            except _AgainError:
                if time.monotonic() > end:
                    raise problems.contended(self.name) from None
                time.sleep(random.uniform(0, AGAIN_SECONDS))

    def _send(self, connection: _Connection, query: bytes, values: Values = ()) -> list[Row]:
        """Send one message and return the rows of its last statement.

        Raises:
            ConflictError: It would have made two rows of one name.
            LostError: There was no answer.
            Refused: The database did not carry it out.
        """
        try:
            with ClientCursor(connection) as cursor:
                cursor.execute(query, values or None)
                while cursor.nextset():
                    pass
                return cursor.fetchall() if cursor.description else []
        except (errors.SerializationFailure, errors.DeadlockDetected):
            raise _AgainError from None
        except (TimeoutError, OperationalError) as error:
            if not isinstance(error, TimeoutError) and not _is_gone(connection, error):
                raise problems.statement(self.name, error) from None
            connection.close()
            raise LostError from None
        except (errors.UniqueViolation, errors.DivisionByZero):
            raise ConflictError from None
        except psycopg.Error as error:
            raise problems.statement(self.name, error) from None

    # -- connections ---------------------------------------------------------------------

    @contextmanager
    def _connection(self, *, checked: bool) -> Iterator[_Connection]:
        """Lend a connection, an idle one or a new one.

        Raises:
            Refused: ``io_error``.
        """
        connection = self._take()
        try:
            if checked and not self._checked:
                self._check(connection)
            yield connection
        finally:
            self._give_back(connection)

    def _take(self) -> _Connection:
        with self._lock:
            if self._process != os.getpid():
                # The connections belong to the process that this one was forked from.
                _KEPT_FOR_PARENTS.extend(self._idle)
                self._idle, self._process = [], os.getpid()
            while self._idle:
                idle = self._idle.pop()
                if _is_quiet(idle):
                    return idle
                idle.close()
        return _connected(self._url, self.name)

    def _give_back(self, connection: _Connection) -> None:
        with self._lock:
            if not connection.closed and len(self._idle) < _IDLE:
                self._idle.append(connection)
                return
        connection.close()

    def _check(self, connection: _Connection) -> None:
        """Check once that the schema has the version that we use.

        Raises:
            Refused: ``io_error``.
        """
        version: int = self._send(connection, VERSION_QUERY.encode())[0][0]
        if version != KNOWN:
            raise problems.other_schema(self.name, version, KNOWN)
        self._checked = True

    def close(self) -> None:
        """Close all idle connections."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()


_KEPT_FOR_PARENTS: list[_Connection] = []
"""Connections of a parent process: to close them here would end them there."""

_OPEN: dict[str, Database] = {}


def database(url: str) -> Database:
    """Return this process's access to a database; its connections are kept for later calls.

    Raises:
        Refused: ``io_error``; the address cannot be read.
    """
    found = _OPEN.get(url)
    return found if found is not None else _OPEN.setdefault(url, Database(url))


def close_all() -> None:
    """Close the connections of this process to all databases, and forget these."""
    while _OPEN:
        _OPEN.popitem()[1].close()


def _is_gone(connection: _Connection, error: OperationalError) -> bool:
    """Return whether an error ended the connection, so that the answer will never come."""
    # Class 57P: the server shuts down or crashed; class 08: the connection failed.
    code = error.sqlstate or "08"
    return connection.broken or connection.closed or code.startswith(("08", "57P"))


def _is_quiet(connection: _Connection) -> bool:
    """Return whether an idle connection has nothing to tell, as it has when the server left."""
    try:
        readable, _, _ = select.select([connection.pgconn.socket], [], [], 0)
    except (psycopg.Error, OSError, ValueError):
        return False
    return not readable


def _connected(url: str, name: str) -> _Connection:
    """Return a new connection.

    To look up a host's name has no limit of its own, so a thread connects and may be left behind.

    Raises:
        Refused: ``io_error``.
    """
    seconds = _within(CONNECT_SECONDS)
    found: list[_Connection] = []
    failed: list[psycopg.Error] = []
    late = threading.Lock()
    abandoned = False

    def connect() -> None:
        try:
            made = _Connection.connect(
                url,
                autocommit=True,
                prepare_threshold=None,
                connect_timeout=max(2, round(seconds)),
                tcp_user_timeout=int(STATEMENT_SECONDS * 1000),
                client_encoding="utf8",
                fallback_application_name="hindnote",
            )
        except psycopg.Error as error:
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
