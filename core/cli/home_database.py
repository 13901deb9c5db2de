"""``hindnote home init``, ``check``, ``migrate`` and ``copy``: use a database as notes home."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hindnote.core.cli.session_options import leave_refused, shown
from hindnote.core.cli.tree import Failure, report
from hindnote.core.errors import Refused
from hindnote.core.places.database_home import DatabaseHome, is_address
from hindnote.core.places.home import notes_home
from hindnote.core.system.process import process_directory
from hindnote.core.text.messages import counted

if TYPE_CHECKING:
    from hindnote.core.database.connection import Database

_KEY = re.compile(r"[a-z0-9][a-z0-9._-]*-[0-9a-f]{8}")


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


@click.command(short_help="Copy all notes into another home, of either kind.")
@click.argument("source", metavar="FROM")
@click.argument("target", metavar="TO")
def copy(source: str, target: str) -> None:
    """Copy all notes from one home into another; each is a folder or the URL of a database.

    Bytes, times and read counts stay as they are, and every byte is read back and compared. A
    note that is there with other bytes is left alone and named. If the copy is ended, run it
    again: it goes on where it stopped. Earlier versions of notes are not copied.

    A project has another key in a database than in a folder. It is known from the directories
    of recorded sessions; the notes of any other project keep their key, which is told.

    \b
    hindnote home copy ~/.agents/notes postgresql://ada@db.example/team
    """  # noqa: D301 (click reads the character itself)
    from hindnote.core.notes.copying import copy as copied

    tally: Counter[str] = Counter()
    old, new = _named(source), _named(target)
    if old == new:
        raise Failure("FROM and TO are the same home; nothing was copied")
    if isinstance(old, Path) and not old.is_dir():
        raise Failure(f"FROM is no folder: {shown(str(old))}")
    keys = _project_keys(old, new)
    kept: set[str] = set()
    try:
        for note in copied(old, new, keys):
            tally[note.outcome] += 1
            where, _, rest = note.note.partition("/")
            if where == "project" and isinstance(old, Path) != isinstance(new, Path):
                kept.add(rest.partition("/")[0])
            if note.outcome == "differs":
                report(f"differs, and was left alone: {shown(note.note)}")
            elif note.outcome == "left":
                report(f"not copied: {shown(note.note)}: {shown(note.reason)}")
    except Refused as refused:
        leave_refused(refused.refusal)
    for key in sorted(kept - keys.keys()):
        report(f"kept its key, since no directory of the project is known here: {shown(key)}")
    told = f"copied {counted(tally['copied'], 'note')}; {tally['same']:,} were there already"
    report(f"{told}; {tally['differs']:,} differ; {tally['left']:,} cannot be copied")
    click.get_current_context().exit(1 if tally["differs"] or tally["left"] else 0)


def _project_keys(old: Path | DatabaseHome, new: Path | DatabaseHome) -> dict[str, str]:
    """Return the keys that projects have in the new home, by their keys in the old one."""
    from hindnote.core.cli.session_options import asking_for
    from hindnote.core.history.sessions import EVERY
    from hindnote.core.places.project import key_in, project_root

    if isinstance(old, Path) == isinstance(new, Path):
        return {}
    asked = asking_for(EVERY)
    listed = asked.dispatcher.sessions(asked.call).many(EVERY)
    recorded = {one.entry.cwd for one in listed if one.entry is not None and one.entry.cwd}
    found: dict[str, set[str]] = {}
    for directory in {process_directory(), *map(Path, recorded)}:
        try:
            if directory.is_absolute() and directory.is_dir():
                root = project_root(directory)
                found.setdefault(key_in(old, root), set()).add(key_in(new, root))
        except (OSError, ValueError, RuntimeError):
            continue
    # Of two clones here, nothing tells which one a team's notes belong to.
    return {key: targets.pop() for key, targets in found.items() if len(targets) == 1}


@click.command(short_help="Give a project's notes in a database another key.")
@click.argument("old", metavar="OLD")
@click.argument("new", metavar="NEW")
def rekey(old: str, new: str) -> None:
    """Give the notes under the project key OLD the key NEW, in the database HINDNOTE_HOME.

    A project's key comes from its repository's remote, so notes are left under the old key
    after the remote was renamed, or when the repository got its first one. The boot block
    names the key of a directory's project. Versions and read counts come along.

    \b
    hindnote home rekey app-1f0e4d52 shop-9a536f3f
    """  # noqa: D301 (click reads the character itself)
    home = notes_home()
    if home.database is None:
        raise Failure("the notes home is a folder, in which keys come from paths and stay")
    for key in (old, new):
        if not _KEY.fullmatch(key):
            raise Failure(f"{shown(key)} is not a project key, such as app-1f0e4d52")
    try:
        home.admit(process_directory())
        with _opened(home.database.url) as database:
            from hindnote.core.notes.rekeying import rekey as moved

            count = 0 if old == new else moved(database, old, new)
    except Refused as refused:
        leave_refused(refused.refusal)
    report(f"gave {counted(count, 'note')} the key {new}")


def _named(home: str) -> Path | DatabaseHome:
    return DatabaseHome(home) if is_address(home) else Path(home).expanduser().resolve()


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
