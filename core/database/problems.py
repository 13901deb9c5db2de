"""Turn errors of the database into refusals.

The text of an error is never passed on, because libpq and the server may repeat parts of the
address or of a statement in it. Messages say what is known from its code, and what to do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from psycopg import errors

from hindnote.core.errors import Refused

if TYPE_CHECKING:
    from psycopg import Error

UNKNOWN = "it may or may not have been carried out; read before you repeat"
"""Said of a change whose outcome cannot be found out."""

_CONNECTING = (
    ("timeout", "it did not answer in time"),
    ("refused", "nothing listens at its port"),
    ("translate host name", "its host's name is not known here"),
    ("resolve", "its host's name is not known here"),
    ("no password supplied", "it wants a password, and none was found where libpq looks"),
    ("password authentication failed", "it does not accept the user's password"),
    ("no pg_hba.conf entry", "its pg_hba.conf does not admit this user from here"),
    ("does not exist", "it has no such database or user"),
    ("too many", "it has no connection left"),
    ("starting up", "it is starting up"),
    ("shutting down", "it is shutting down"),
    ("No such file", "nothing listens at its socket"),
    ("SSL", "no TLS connection could be made as sslmode asks"),
    ("certificate", "its certificate is not accepted"),
    ("service", "libpq finds no such service"),
)
"""Parts of what libpq 15 to 18 say about a failed connection, and what we say."""


def connecting(name: str, error: Exception | None) -> Refused:
    """Return the refusal of a call for which no connection could be made.

    Args:
        name: The database, as messages show it.
        error: What was raised; None when it did not answer in time.
    """
    said = "timeout" if error is None else str(error)
    if isinstance(error, UnicodeError):
        said = "resolve"
    reason = next((ours for part, ours in _CONNECTING if part in said), "the connection failed")
    return Refused(
        "io_error",
        f"the database {name} cannot be reached: {reason}; nothing was read or changed. Try again, "
        "or ask whoever runs it",
    )


def lost(name: str) -> Refused:
    """Return the refusal of a change whose outcome is unknown, since the connection was lost."""
    return Refused("io_error", f"the connection to the database {name} was lost: {UNKNOWN}")


def contended(name: str) -> Refused:
    """Return the refusal of a statement that lost against others again and again."""
    return Refused(
        "io_error",
        f"others change the same in the database {name} again and again; nothing was changed here, "
        "try again",
    )


def statement(name: str, error: Error) -> Refused:
    """Return the refusal of a statement that the database did not carry out."""
    if isinstance(error, errors.QueryCanceled | errors.LockNotAvailable):
        return Refused(
            "io_error",
            f"the database {name} did not finish the statement in time, and nothing was changed; "
            "try again",
        )
    if isinstance(error, errors.InsufficientPrivilege | errors.ReadOnlySqlTransaction):
        return Refused(
            "read_only_home",
            f"your role may only read in the database {name}; nothing was changed. Ask whoever "
            "runs it for the role hindnote_writer",
        )
    if isinstance(error, errors.UndefinedTable | errors.InvalidSchemaName):
        return Refused("io_error", _absent(name))
    code = error.sqlstate or type(error).__name__
    return Refused(
        "io_error",
        f"the database {name} refused the statement (SQLSTATE {code}), and nothing was changed",
    )


def no_schema(name: str) -> Refused:
    """Return the refusal of a database that is no notes home yet."""
    return Refused("io_error", _absent(name))


def other_schema(name: str, version: int, known: int) -> Refused:
    """Return the refusal of a database whose schema this version does not use."""
    if version > known:
        todo = f"newer than version {known}, which this hindnote uses; install a newer hindnote"
    else:
        todo = f"older than version {known}, which this hindnote uses; run hindnote home migrate"
    return Refused("io_error", f"the database {name} has version {version} of the schema, {todo}")


def may_not_migrate(name: str) -> Refused:
    """Return the refusal of a role that may not make or change the tables."""
    return Refused(
        "read_only_home",
        f"your role may not make or change tables and roles in the database {name}, and nothing "
        "was changed; let its owner do this, with a role that may create roles",
    )


def _absent(name: str) -> str:
    return (
        f"the database {name} is no notes home, or your role may not use it; whoever runs it makes "
        "one with hindnote home init"
    )
