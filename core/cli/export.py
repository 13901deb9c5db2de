"""``hindnote export``: a session as one file that opens anywhere."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hindnote.core.cli.one_session import opened
from hindnote.core.cli.screen import say
from hindnote.core.cli.session_options import leave_refused
from hindnote.core.cli.tree import Failure, deliver
from hindnote.core.errors import Refused
from hindnote.core.fs.atomic import attributes_of, create, replace
from hindnote.core.fs.handles import ROOT, look
from hindnote.core.reader.page import TEXT_LIMIT, Reading
from hindnote.core.text.messages import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hindnote.core.history.projection import Projection
    from hindnote.core.reader.redaction import Redactor

EXTRA = (
    "detect-secrets, whose rules --redact takes, is not installed: pip install 'hindnote[redact]'"
)


@click.command(short_help="Write a session into one HTML file.")
@click.argument("session", required=False)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, allow_dash=True, path_type=Path),
    required=True,
    help="The file to write; - for standard output. An existing file is only replaced with --force.",
)
@click.option("--redact", is_flag=True, help="Replace what looks like secrets, and home paths.")
@click.option("--full", is_flag=True, help="Leave nothing out of long texts and outputs.")
@click.option("--force", is_flag=True, help="Replace the file if it exists.")
def export(session: str | None, output: Path, redact: bool, full: bool, force: bool) -> None:
    """Write all of a session into one HTML file, to keep it or to share it.

    The file loads nothing and has no script. SESSION is what 'hindnote sessions' lists, or the
    beginning of its id; without it the latest session of this directory is taken.

    With --redact what looks like a secret, by the rules of detect-secrets and some more, and
    the paths of homes are replaced, and what was replaced is printed. No rule finds all
    secrets: read the file before you share it.

    \b
    hindnote export claude:4f6a07c1 -o session.html --redact
    """  # noqa: D301 (click reads the character itself)
    from hindnote.core.reader.html import Drawing, document, drawn

    try:
        found = opened(session)
        projection: Projection = found.projection
        title, facts = found.title, found.facts
        redactor = _redactor() if redact else None
        if redactor is not None:
            from hindnote.core.reader.redaction import Redacted

            projection = Redacted(found.projection, redactor)
            title, facts = redactor.text(title), redactor.text(facts)
        cwd = None if redact else projection.header.cwd
        page = Reading(projection, limit=None if full else TEXT_LIMIT).everything()
        how = Drawing(cwd=cwd, session=found.session, full=full, body_limit=None)
        text = document(title, facts, drawn(page, how))
    except Refused as refused:
        leave_refused(refused.refusal)
    data = text.encode()
    if to_stdout := str(output) == "-":
        deliver(text)
    else:
        _write(output, data, force)
        events = counted(sum(1 for _ in page.events()), "event")
        say(f"wrote {output}: {events}, {len(data):,} bytes")
    if redactor is not None:
        for line in _replaced(redactor):
            say(line, err=to_stdout)


def _redactor() -> Redactor:
    from hindnote.core.reader.redaction import Redactor

    try:
        return Redactor()
    except ImportError as error:
        raise Failure(EXTRA) from error


def _replaced(redactor: Redactor) -> Iterator[str]:
    if not (redactor.places or redactor.homes):
        yield "nothing looked like a secret or a home path"
        return
    yield "replaced:"
    for kind, seqs in sorted(redactor.places.items()):
        where = ", ".join(str(seq) for seq in sorted(seqs) if seq)
        yield f"  {kind}{f', seq {where}' if where else ''}"
    for home in sorted(redactor.homes):
        yield f"  {home} by ~"
    yield "no rule finds all secrets: read the file before you share it"


def _write(output: Path, data: bytes, force: bool) -> None:
    """Write the file whole, or not at all.

    Raises:
        Failure: It cannot be written, or must not be replaced.
    """
    try:
        folder = os.open(output.parent, ROOT)
        try:
            _put(folder, output, data, force)
        finally:
            os.close(folder)
    except FileExistsError:
        raise Failure(f"{output} is there already; --force replaces it") from None
    except OSError as error:
        raise Failure(f"{output} cannot be written: {error.strerror}") from error


def _put(folder: int, output: Path, data: bytes, force: bool) -> None:
    there = look(folder, output.name) if force else None
    if there is None:
        create(folder, output.name, data)
    elif stat.S_ISREG(there.st_mode):
        replace(folder, output.name, data, **attributes_of(there))
    else:
        # The target of a link was not named by the person; a device or pipe is not a file to keep.
        raise Failure(f"{output} is not a regular file, so it is not replaced; name another file")
