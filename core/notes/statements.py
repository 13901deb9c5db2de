"""The SQL with which notes are read and changed in a database.

Names are unique by their folded form, so that no two notes differ by letter case alone. A folder
has a row too, without bytes, so that this holds for its name as well. A folder's row counts while
a note is below it.

Each statement is one transaction, and is sent as one message.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

OWN = 'current_user::text COLLATE "C"'
"""The owner of personal notes: the role of the connection."""


def owner_of(shared: bool) -> str:
    """Return the SQL for the owner of the team's notes, or of the person's."""
    return "''" if shared else OWN


class Key(NamedTuple):
    """Where a note is in the table."""

    shared: bool
    """Whether it belongs to the team, not to a person."""

    home: str
    path: str

    @property
    def owner(self) -> str:
        """The SQL for its owner."""
        return owner_of(self.shared)


def home_depth(segments: tuple[str, ...]) -> int:
    """Return how many of the first segments of a path name the home."""
    first = segments[0]
    return 1 if first == "human" else 2 if first in ("project", "agents", "models") else 3


def key_of(segments: tuple[str, ...]) -> Key:
    """Return where a note is, from the path of its file in a folder."""
    depth = home_depth(segments)
    return Key(segments[0] == "project", "/".join(segments[:depth]), "/".join(segments[depth:]))


FACTS = "modified_ns, updated_ms, created_ms, chars, archived_at, problem"
_FACTS_GIVEN = (
    "%(modified_ns)s, %(updated_ms)s, %(created_ms)s, %(chars)s, %(archived_at)s, %(problem)s"
)
_WHO = "machine, host, session, agent, model"
_WHO_GIVEN = "%(machine)s, %(host)s, %(session)s, %(agent)s, %(model)s"


_OR_UNDO = "SELECT 1 / count(*)::integer FROM hindnote.changes WHERE id = %(id)s"
"""Undo all statements of a message by an error, unless its change was made."""


def where(key: Key, name: str = "") -> str:
    """Return the condition for one row.

    Args:
        key: Decides the owner.
        name: Prefix of the parameters with home and path.
    """
    return f"owner = {key.owner} AND home = %({name}home)s AND path = %({name}path)s"


def read(key: Key) -> str:
    """Read a note; one that is too large without its bytes."""
    return (
        "SELECT CASE WHEN octet_length(data) <= %(limit)s THEN data END, octet_length(data), "
        f"modified_ns, born_ms, change FROM hindnote.notes WHERE {where(key)} "
        "AND data IS NOT NULL"
    )


def replace(key: Key) -> str:
    """Replace a note that still has the change that was read; returns a row when done."""
    return f"""
WITH changed AS (
    UPDATE hindnote.notes SET data = %(data)s, change = %(id)s, ({FACTS}) = ROW({_FACTS_GIVEN})
    WHERE {where(key)} AND change = %(before)s
    RETURNING owner, home, path, data
)
INSERT INTO hindnote.changes (id, kind, owner, home, path, version, data, {_WHO})
SELECT %(id)s, 'write', owner, home, path, %(version)s, data, {_WHO_GIVEN} FROM changed
RETURNING 1
"""


def create(key: Key, *, left: Key | None = None) -> str:
    """Create a note; returns a row when done.

    Args:
        key: The note.
        left: A note that is created besides, with parameters that begin with ``left_``.
    """
    return (
        f"{_folders(key)} {_insert(key)} {'' if left is None else _insert_left(left)} {_keep(key)}"
    )


def move(source: Key, to: Key, *, left: bool) -> str:
    """Move a note that still has the change that was read; returns a row when done."""
    free = (
        f"NOT EXISTS (SELECT FROM hindnote.notes AS other WHERE other.owner = {to.owner} "
        "AND other.home = %(home)s AND other.folded = %(folded)s "
        "AND (other.home, other.path) <> (%(from_home)s, %(from_path)s))"
    )
    return f"""
{make_room(to, moved=True)}
{_folders(to)}
UPDATE hindnote.notes SET owner = {to.owner}, home = %(home)s, path = %(path)s,
    folded = %(folded)s, data = %(data)s, change = %(id)s, ({FACTS}) = ROW({_FACTS_GIVEN})
WHERE {where(source, "from_")} AND change = %(before)s AND {_has_folders(to)} AND {free};
{_insert_left(source) if left else ""}
{_keep(to, kind="move")};
{_OR_UNDO}
"""


def _folders(key: Key) -> str:
    """Make the rows of a note's folders, and keep them from being removed meanwhile."""
    if "/" not in key.path:
        return ""
    return f"""
INSERT INTO hindnote.notes (owner, home, path, folded, change, born_ms, {FACTS})
SELECT {key.owner}, %(home)s, path, folded, %(id)s, %(born_ms)s, 0, 0, 0, 0, NULL, NULL
FROM unnest(%(folders)s::text[], %(folders_folded)s::text[]) AS folder (path, folded)
ON CONFLICT DO NOTHING;
SELECT FROM hindnote.notes WHERE owner = {key.owner} AND home = %(home)s
AND path = ANY (%(folders)s::text[]) AND data IS NULL ORDER BY path FOR KEY SHARE;
"""


def _has_folders(key: Key) -> str:
    if "/" not in key.path:
        return "true"
    return (
        f"(SELECT count(*) FROM hindnote.notes AS folder WHERE folder.owner = {key.owner} "
        "AND folder.home = %(home)s AND folder.path = ANY (%(folders)s::text[]) "
        "AND folder.data IS NULL) = cardinality(%(folders)s::text[])"
    )


def _insert(key: Key) -> str:
    return f"""
INSERT INTO hindnote.notes (owner, home, path, folded, data, change, born_ms, {FACTS})
SELECT {key.owner}, %(home)s, %(path)s, %(folded)s, %(data)s, %(id)s, %(born_ms)s, {_FACTS_GIVEN}
WHERE {_has_folders(key)} ON CONFLICT DO NOTHING;
"""


def _insert_left(left: Key) -> str:
    """Create another note and keep it as a change, if the change itself was made."""
    given = _FACTS_GIVEN.replace("%(", "%(left_")
    return f"""
INSERT INTO hindnote.notes (owner, home, path, folded, data, change, born_ms, {FACTS})
SELECT {left.owner}, %(left_home)s, %(left_path)s, %(left_folded)s, %(left_data)s, %(left_id)s,
    %(born_ms)s, {given}
WHERE EXISTS (SELECT FROM hindnote.notes WHERE change = %(id)s AND home = %(home)s
    AND path = %(path)s) ON CONFLICT DO NOTHING;
INSERT INTO hindnote.changes (id, kind, owner, home, path, version, data, {_WHO})
SELECT %(left_id)s, 'write', owner, home, path, %(left_version)s, data, {_WHO_GIVEN}
FROM hindnote.notes WHERE {where(left, "left_")} AND change = %(left_id)s;
"""


def _keep(key: Key, kind: str = "write") -> str:
    moved = "%(from_home)s || '/' || %(from_path)s" if kind == "move" else "NULL"
    return f"""
INSERT INTO hindnote.changes (id, kind, owner, home, path, moved_from, version, data, {_WHO})
SELECT %(id)s, '{kind}', owner, home, path, {moved}, %(version)s, data, {_WHO_GIVEN}
FROM hindnote.notes WHERE {where(key)} AND change = %(id)s
RETURNING 1
"""


def make_room(key: Key, *, moved: bool = False) -> str:
    """Respell the folders of a new note, and remove a folder of its name, if no note is in them.

    First their rows are locked, so that no note comes to be in them meanwhile.

    Args:
        key: The new note.
        moved: Whether it is moved, and so does not count where it was.
    """
    own = f"f.owner = {key.owner} AND f.home = %(home)s AND f.data IS NULL"
    left_out = "AND (b.home, b.path) <> (%(from_home)s, %(from_path)s)" if moved else ""
    empty = (
        "NOT EXISTS (SELECT FROM hindnote.notes AS b WHERE b.owner = f.owner AND b.home = f.home "
        "AND b.folded > f.folded || '/' AND b.folded < f.folded || '0' AND b.data IS NOT NULL "
        f"{left_out})"
    )
    wanted = "unnest(%(folders)s::text[], %(folders_folded)s::text[]) AS wanted (path, folded)"
    other = "f.folded = wanted.folded AND f.path <> wanted.path"
    return f"""
SELECT FROM hindnote.notes AS f JOIN {wanted} ON {other} WHERE {own} ORDER BY f.path FOR UPDATE OF f;
UPDATE hindnote.notes AS f SET path = wanted.path FROM {wanted} WHERE {other} AND {own} AND {empty};
SELECT FROM hindnote.notes AS f WHERE {own} AND f.folded = %(folded)s FOR UPDATE;
DELETE FROM hindnote.notes AS f WHERE {own} AND f.folded = %(folded)s AND {empty};
"""


def in_the_way(key: Key) -> str:
    """Read what has a note's name or that of its folders, as other systems may confuse them."""
    return (
        "SELECT path, data IS NULL FROM hindnote.notes "
        f"WHERE owner = {key.owner} AND home = %(home)s "
        "AND (folded = %(folded)s OR folded = ANY (%(folders_folded)s::text[])) ORDER BY path"
    )


SETTLE = """
INSERT INTO hindnote.changes (id, kind, owner, home, path, machine)
VALUES (%(id)s, 'void', '', '', '', %(machine)s) ON CONFLICT DO NOTHING;
SELECT kind FROM hindnote.changes WHERE id = %(id)s
"""
"""Find out whether a change was carried out; if it was not, it never will be after this.

The row takes the change's id. A server that is still at work on the change is waited for, and one
that has not begun fails.
"""

LIST = f"""
SELECT n.home, n.path, {FACTS} FROM hindnote.notes AS n
WHERE ((n.owner = '' AND n.home = ANY (%(team)s::text[]))
    OR (n.owner = {OWN} AND n.home = ANY (%(own)s::text[]))) AND n.data IS NOT NULL
"""


def bodies(shared: Sequence[bool]) -> str:
    """Read the notes of some homes.

    Args:
        shared: For each home whether it is the team's. Its name and the paths are the parameters
            ``home0`` and ``paths0``, and so on.
    """
    return " UNION ALL ".join(
        f"SELECT home, path, data FROM hindnote.notes WHERE owner = {owner_of(team)} "
        f"AND home = %(home{number})s AND path = ANY (%(paths{number})s) AND data IS NOT NULL"
        for number, team in enumerate(shared)
    )


SLUGS = f"""
SELECT DISTINCT home FROM hindnote.notes
WHERE owner = {OWN} AND home > %(kind)s || '/' AND home < %(kind)s || '0' AND data IS NOT NULL
"""


def names(key: Key) -> str:
    """Read the names in a note's folder."""
    return (
        "SELECT DISTINCT split_part(substr(path, length(%(folder)s) + 1), '/', 1) "
        f"FROM hindnote.notes WHERE owner = {key.owner} AND home = %(home)s "
        "AND path >= %(folder)s AND starts_with(path, %(folder)s) AND data IS NOT NULL LIMIT 1000"
    )


def count_read(key: Key) -> str:
    """Count one read of a note; losing a count in a crash of the server does no harm."""
    return f"""
SET LOCAL synchronous_commit = off;
INSERT INTO hindnote.reads (owner, home, path, count, last_ms)
VALUES ({key.owner}, %(home)s, %(path)s, %(seed)s + 1, %(now)s)
ON CONFLICT (owner, home, path)
DO UPDATE SET count = reads.count + 1, last_ms = greatest(reads.last_ms, %(now)s)
"""


def move_count(source: Key, to: Key) -> str:
    """Keep a note's count under its new name, in place of one that a former note left there."""
    return f"""
DELETE FROM hindnote.reads WHERE {where(to)}
AND EXISTS (SELECT FROM hindnote.reads WHERE {where(source, "from_")});
UPDATE hindnote.reads SET owner = {to.owner}, home = %(home)s, path = %(path)s
WHERE {where(source, "from_")}
"""


def kept(key: Key) -> str:
    """Read the changes of a note, newest first."""
    return (
        "SELECT version, (extract(epoch FROM at) * 1000)::bigint, kind, octet_length(data), "
        f"moved_from, role, {_WHO} FROM hindnote.changes WHERE {where(key)} ORDER BY at DESC "
        "LIMIT %(most)s"
    )


def kept_bytes(key: Key) -> str:
    """Read the bytes that a note had in a version."""
    return (
        f"SELECT data FROM hindnote.changes WHERE {where(key)} AND version = %(version)s "
        "ORDER BY at DESC LIMIT 1"
    )


EVERY = f"""
SELECT home, path FROM hindnote.notes
WHERE owner = CASE WHEN %(shared)s THEN '' ELSE {OWN} END AND (home, path) > (%(home)s, %(path)s)
AND data IS NOT NULL ORDER BY home, path LIMIT 1000
"""

COUNTS = (
    f"SELECT home || '/' || path, count, last_ms FROM hindnote.reads WHERE owner IN ('', {OWN})"
)


def put_count(key: Key) -> str:
    """Set a note's count, as it was elsewhere."""
    return f"""
INSERT INTO hindnote.reads (owner, home, path, count, last_ms)
VALUES ({key.owner}, %(home)s, %(path)s, %(count)s, %(last)s)
ON CONFLICT (owner, home, path) DO UPDATE SET count = %(count)s, last_ms = %(last)s
"""
