"""Run statements on a database within time limits, over connections that are replaced when lost.

A statement goes out as one message, together with ``SET LOCAL`` for its time limit, and so is a
transaction of its own. Nothing is prepared and no state is kept between messages, so a pooler in
transaction mode may stand in between.
"""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TypeAlias

import psycopg
from psycopg import ClientCursor, OperationalError, errors

from hindnote.core.database import problems
from hindnote.core.database.address import name_of
from hindnote.core.database.opening import (
    CONNECT_SECONDS,
    GRACE_SECONDS,
    STATEMENT_SECONDS,
    Connection,
    Row,
    connected,
    is_gone,
    is_quiet,
    within,
)
from hindnote.core.database.schema import KNOWN, VERSION_QUERY
from hindnote.core.errors import Refused

AGAIN_SECONDS = 0.1
"""Pause before the outcome of a lost change is asked for again."""

_IDLE = 32
"""Maximum number of idle connections to one database that a process keeps."""

Values: TypeAlias = Sequence[object] | Mapping[str, object]


class ConflictError(Exception):
    """The statement would have made two rows of one name, or undid itself; it changed nothing.

    A statement undoes itself by dividing by zero.
    """


class _AgainError(Exception):
    """The statement lost against another one of the same moment, and changed nothing."""


class LostError(Exception):
    """The connection was lost before the answer to a statement arrived."""


class Database:
    """A database that holds a notes home.

    Args:
        url: Its address, as libpq takes it.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self.name = name_of(url)
        """The database and its host, for messages."""

        self._idle: list[Connection] = []
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
        end = time.monotonic() + within(CONNECT_SECONDS)
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
                    seconds = within(STATEMENT_SECONDS)
                    connection.seconds = seconds + GRACE_SECONDS * (seconds == STATEMENT_SECONDS)
                    limit = max(1, int(seconds * 1000))
                    text = f"SET LOCAL statement_timeout = {limit}; {query}"
                    return self._send(connection, text.encode(), values)
            except _AgainError:
                if time.monotonic() > end:
                    raise problems.contended(self.name) from None
                time.sleep(random.uniform(0, AGAIN_SECONDS))

    def _send(self, connection: Connection, query: bytes, values: Values = ()) -> list[Row]:
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
            if not isinstance(error, TimeoutError) and not is_gone(connection, error):
                raise problems.statement(self.name, error) from None
            connection.close()
            raise LostError from None
        except (errors.UniqueViolation, errors.DivisionByZero):
            raise ConflictError from None
        except psycopg.Error as error:
            raise problems.statement(self.name, error) from None

    # -- connections ---------------------------------------------------------------------

    @contextmanager
    def _connection(self, *, checked: bool) -> Iterator[Connection]:
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

    def _take(self) -> Connection:
        with self._lock:
            if self._process != os.getpid():
                # The connections belong to the process that this one was forked from.
                _KEPT_FOR_PARENTS.extend(self._idle)
                self._idle, self._process = [], os.getpid()
            while self._idle:
                idle = self._idle.pop()
                if is_quiet(idle):
                    return idle
                idle.close()
        return connected(self._url, self.name)

    def _give_back(self, connection: Connection) -> None:
        with self._lock:
            if not connection.closed and len(self._idle) < _IDLE:
                self._idle.append(connection)
                return
        connection.close()

    def _check(self, connection: Connection) -> None:
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


_KEPT_FOR_PARENTS: list[Connection] = []
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
