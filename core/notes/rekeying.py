"""Give the notes of a project another key, in a database."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hindnote.core.database.connection import ConflictError
from hindnote.core.errors import Refused
from hindnote.core.text.messages import quote

if TYPE_CHECKING:
    from hindnote.core.database.connection import Database

_COUNT = """
SELECT count(*) FROM hindnote.notes
WHERE owner = '' AND home = %(old)s AND data IS NOT NULL
"""

_MOVE = """
DELETE FROM hindnote.notes AS old USING hindnote.notes AS new
WHERE old.owner = '' AND old.home = %(old)s AND old.data IS NULL
    AND new.owner = '' AND new.home = %(new)s AND new.path = old.path AND new.data IS NULL;
UPDATE hindnote.notes SET home = %(new)s WHERE owner = '' AND home = %(old)s;
INSERT INTO hindnote.reads (owner, home, path, count, last_ms)
SELECT owner, %(new)s, path, count, last_ms FROM hindnote.reads
WHERE owner = '' AND home = %(old)s
ON CONFLICT (owner, home, path) DO UPDATE
SET count = hindnote.reads.count + EXCLUDED.count,
    last_ms = greatest(hindnote.reads.last_ms, EXCLUDED.last_ms);
DELETE FROM hindnote.reads WHERE owner = '' AND home = %(old)s;
UPDATE hindnote.changes SET home = %(new)s WHERE owner = '' AND home = %(old)s;
SELECT 1
"""


def rekey(database: Database, old: str, new: str) -> int:
    """Give the notes under a project's key another key, with their versions and read counts.

    It is one transaction: after a crash all of them have the old key or the new one.

    Returns:
        The number of notes.

    Raises:
        Refused: ``address_collision``: the new key has a note of the same name. ``not_found``:
            no notes have the old key. ``io_error``, ``read_only_home``.
    """
    keys = {"old": f"project/{old}", "new": f"project/{new}"}

    def settle() -> list[tuple[object, ...]] | None:
        # Nothing has the old key once it was carried out, and to do it again changes nothing.
        return None if database.read(_COUNT, keys)[0][0] else [(1,)]

    count = int(str(database.read(_COUNT, keys)[0][0]))
    if not count:
        raise Refused("not_found", f"no notes are kept under the project key {quote(old)}")
    try:
        database.change(_MOVE, keys, settle)
    except ConflictError:
        raise Refused(
            "address_collision",
            f"the projects {quote(old)} and {quote(new)} have notes of the same name; rename or "
            "archive those of one first. Nothing was changed",
        ) from None
    return count
