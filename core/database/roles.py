"""The two roles of a notes home: one reads, one also writes. A person's role gets one of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hindnote.core.database.connection import Database

READER = "hindnote_reader"
WRITER = "hindnote_writer"

_MAKE = """
DO $roles$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '{role}') THEN
        CREATE ROLE {role} NOLOGIN;
    END IF;
EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
END $roles$;
"""


def grants() -> str:
    """Return the statements that make both roles and give them their rights on all tables."""
    return f"""
{_MAKE.format(role=READER)}
{_MAKE.format(role=WRITER)}
GRANT USAGE ON SCHEMA hindnote TO {READER}, {WRITER};
GRANT SELECT ON ALL TABLES IN SCHEMA hindnote TO {READER}, {WRITER};
GRANT INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA hindnote TO {WRITER};
REVOKE INSERT, UPDATE, DELETE ON hindnote.version FROM {WRITER};
"""


def may_write(database: Database) -> bool:
    """Return whether the role of the connection may change notes.

    Raises:
        Refused: ``io_error``.
    """
    query = "SELECT has_table_privilege('hindnote.notes', 'UPDATE') AND NOT pg_is_in_recovery()"
    return bool(database.look(query)[0][0])
