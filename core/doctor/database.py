"""Check a notes home that is a database."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from hindnote.core.doctor.findings import Finding
from hindnote.core.errors import Refused

if TYPE_CHECKING:
    from hindnote.core.places.database_home import DatabaseHome


def examine_database(home: DatabaseHome) -> Iterator[Finding]:
    """Check whether a database answers, has our tables, and what the person may do there."""
    from hindnote.core.database.connection import Database
    from hindnote.core.database.migrating import check
    from hindnote.core.database.roles import may_write

    subject = f"notes home {home}"
    try:
        database = Database(home.url)
        try:
            check(database)
            writable = may_write(database)
            [(notes,)] = database.read("SELECT count(*) FROM hindnote.notes WHERE data IS NOT NULL")
        finally:
            database.close()
    except Refused as refused:
        yield Finding("error", subject, refused.refusal.message)
        return
    if not writable:
        told = "may only be read with your role"
        yield Finding("warning", subject, told, "ask for the role hindnote_writer to write notes")
    yield Finding("ok", subject, f"answers; you see {notes} {'note' if notes == 1 else 'notes'}")
