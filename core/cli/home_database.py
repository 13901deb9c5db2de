"""``hindnote home init``, ``check`` and ``migrate``: make a database a notes home."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from hindnote.core.cli.session_options import leave_refused
from hindnote.core.cli.tree import report
from hindnote.core.errors import Refused

if TYPE_CHECKING:
    from hindnote.core.database.connection import Database


@click.command(short_help="Make a PostgreSQL database a notes home.")
@click.argument("url")
def init(url: str) -> None:
    """Make the PostgreSQL database at URL a notes home: its tables, and two roles.

    Leave the password out of URL: it is read from where libpq looks, such as ~/.pgpass.
    Your role must be allowed to create a schema there, and roles. Then give each person's
    own role one of the two:

    \b
    hindnote home init postgresql://admin@db.example/team
    psql -d team -c 'GRANT hindnote_writer TO ada'
    """  # noqa: D301 (click reads the character itself)
    _migrated(url, made=True)


@click.command(short_help="Bring a database home's tables to this version.")
@click.argument("url")
def migrate(url: str) -> None:
    """Bring the tables of the notes home at URL to the version that this hindnote uses.

    Older versions of hindnote refuse the database afterwards.
    """
    _migrated(url, made=False)


@click.command(short_help="Check a notes home that is a database.")
@click.argument("url")
def check(url: str) -> None:
    """Check the notes home at URL: whether it answers, its version, and what you may do there."""
    from hindnote.core.database.migrating import check as check_version
    from hindnote.core.database.roles import may_write
    from hindnote.core.database.schema import KNOWN

    with _opened(url) as database:
        check_version(database)
        role, encrypted = database.look(
            "SELECT current_user, coalesce((SELECT ssl FROM pg_stat_ssl "
            "WHERE pid = pg_backend_pid()), false)"
        )[0]
        report(f"database: {database.name}, schema version {KNOWN}")
        report(f"role: {role}, which may {'read and write' if may_write(database) else 'read'}")
        report(f"connection: {'with TLS' if encrypted else 'without TLS'}")


def _migrated(url: str, *, made: bool) -> None:
    from hindnote.core.database import migrating
    from hindnote.core.database.roles import READER, WRITER

    with _opened(url) as database:
        if not made:
            migrating.check_is_home(database)
        before, after = migrating.migrate(database)
        if before == after:
            report(f"nothing to do: {database.name} has version {after} of the tables")
        elif made and not before:
            report(f"made {database.name} a notes home, version {after}")
        else:
            report(f"brought {database.name} from version {before} to {after}")
        if made:
            report(f"give each person's role {WRITER} or, to read only, {READER}")


@contextmanager
def _opened(url: str) -> Iterator[Database]:
    """Open a database for the context, and report refusals."""
    from hindnote.core.places.database_home import require_client

    try:
        require_client()
        from hindnote.core.database.connection import Database

        database = Database(url)
        try:
            yield database
        finally:
            database.close()
    except Refused as refused:
        leave_refused(refused.refusal)
