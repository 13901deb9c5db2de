"""``hindnote export``: a session as one file that opens anywhere."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from hindnote.core.cli.one_session import opened
from hindnote.core.cli.screen import say
from hindnote.core.cli.session_options import leave_refused
from hindnote.core.cli.tree import Failure
from hindnote.core.errors import Refused
from hindnote.core.reader.page import TEXT_LIMIT, Reading
from hindnote.core.text.messages import counted

if TYPE_CHECKING:
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
    type=click.Path(dir_okay=False, path_type=Path),
    required=True,
    help="The file to write. One that is there already is not replaced without --force.",
)
@click.option("--redact", is_flag=True, help="Replace what looks like secrets, and home paths.")
@click.option("--full", is_flag=True, help="Leave nothing out of long texts and outputs.")
@click.option("--force", is_flag=True, help="Replace the file if it is there.")
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
    _write(output, text, force)
    events = counted(sum(1 for _ in page.events()), "event")
    say(f"wrote {output}: {events}, {output.stat().st_size:,} bytes")
    if redactor is not None:
        _say_replaced(redactor)


def _redactor() -> Redactor:
    from hindnote.core.reader.redaction import Redactor

    try:
        return Redactor()
    except ImportError as error:
        raise Failure(EXTRA) from error


def _say_replaced(redactor: Redactor) -> None:
    if not (redactor.places or redactor.homes):
        say("nothing looked like a secret or a home path")
        return
    say("replaced:")
    for kind, seqs in sorted(redactor.places.items()):
        where = ", ".join(str(seq) for seq in sorted(seqs) if seq)
        say(f"  {kind}{f', seq {where}' if where else ''}")
    for home in sorted(redactor.homes):
        say(f"  {home} by ~")
    say("no rule finds all secrets: read the file before you share it")


def _write(output: Path, text: str, force: bool) -> None:
    try:
        with output.open("w" if force else "x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise Failure(f"{output} is there already; --force replaces it") from None
    except OSError as error:
        raise Failure(f"{output} cannot be written: {error.strerror}") from error
