"""The address of a database, and the name by which messages show it.

The address may contain a password. So nothing shows it: messages have the name of the database and
its host only.
"""

from __future__ import annotations

from psycopg import ProgrammingError, conninfo

from hindnote.core.errors import Refused
from hindnote.core.text.messages import quote


def parameters(url: str) -> dict[str, str]:
    """Return the connection parameters that an address sets, by libpq's names.

    Raises:
        Refused: ``io_error``; libpq cannot read the address.
    """
    try:
        found = conninfo.conninfo_to_dict(url)
    except ProgrammingError:
        # What libpq says repeats a part of the address.
        raise Refused(
            "io_error",
            "the address of the database cannot be read (it is not shown, since it may contain a "
            "password); write it as postgresql://USER@HOST:PORT/DATABASE",
        ) from None
    return {name: str(value) for name, value in found.items() if value is not None}


def name_of(url: str) -> str:
    """Return the name of a database and of its host, for messages.

    Raises:
        Refused: ``io_error``; libpq cannot read the address.
    """
    found = parameters(url)
    if "service" in found and "dbname" not in found:
        return f"service {quote(found['service'])}"
    database = found.get("dbname") or found.get("user") or "of the user's name"
    host = found.get("host") or found.get("hostaddr") or "this machine"
    return f"{quote(database)} on {quote(host)}"
