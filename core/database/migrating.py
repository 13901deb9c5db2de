"""Give a database the tables of this version, and check that it has them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hindnote.core.database import problems
from hindnote.core.database.roles import grants
from hindnote.core.database.schema import KNOWN, MIGRATIONS, VERSION, VERSION_QUERY
from hindnote.core.errors import Refused

if TYPE_CHECKING:
    from hindnote.core.database.connection import Database


def version(database: Database) -> int:
    """Return the version of a database's schema; 0 when it has none.

    Raises:
        Refused: ``io_error``.
    """
    there = database.look("SELECT to_regclass('hindnote.version') IS NOT NULL")[0][0]
    return int(database.look(VERSION_QUERY)[0][0]) if there else 0


def migrate(database: Database, known: int = KNOWN) -> tuple[int, int]:
    """Bring a database's schema to the version that we use; return the versions before and after.

    It is one transaction: after a crash the database has the old version or the new one.

    Raises:
        Refused: ``io_error``, also for a schema that is newer.
    """
    before = version(database)
    if before > known:
        raise problems.other_schema(database.name, before, known)
    steps = "".join(
        f"DO $migration$ BEGIN IF (SELECT version FROM hindnote.version) < {number} THEN "
        f"{text} UPDATE hindnote.version SET version = {number}; END IF; END $migration$;"
        for number, text in enumerate(MIGRATIONS[:known], start=1)
    )
    # Two at once take turns; the second finds nothing to do.
    try:
        database.script(f"SELECT pg_advisory_xact_lock(7209263); {VERSION} {steps} {grants()}")
    except Refused as refused:
        if refused.code != "read_only_home":
            raise
        raise problems.may_not_migrate(database.name) from None
    after = version(database)
    if after != known:
        raise problems.other_schema(database.name, after, known)
    return before, after


def check(database: Database) -> None:
    """Refuse a database whose schema has another version than the one that we use.

    Raises:
        Refused: ``io_error``.
    """
    found = check_is_home(database)
    if found != KNOWN:
        raise problems.other_schema(database.name, found, KNOWN)


def check_is_home(database: Database) -> int:
    """Return the version of a database's schema; refuse a database without one.

    Raises:
        Refused: ``io_error``.
    """
    found = version(database)
    if found == 0:
        raise problems.no_schema(database.name)
    return found
