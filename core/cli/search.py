"""``hindnote search``: find events in any session."""

from __future__ import annotations

import json
import shlex
from itertools import groupby
from typing import TYPE_CHECKING, Any

import click

from hindnote.core.cli.session_options import (
    asking,
    folder,
    leave_refused,
    local_time,
    shown,
    waiting,
    which_sessions,
)
from hindnote.core.cli.tree import deliver
from hindnote.core.errors import Refusal
from hindnote.core.history.operations.models import MAX_LIMIT
from hindnote.core.history.times import instant
from hindnote.core.reader.hits import by_word, literally, summary, surrounded
from hindnote.core.reader.listing import about
from hindnote.core.text import clean
from hindnote.core.text.messages import counted

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from hindnote.core.cli.session_options import Asking
    from hindnote.core.plugins.models import SessionEntry
    from hindnote.core.reader.hits import Spans

ABOUT = 60
"""Maximum length of a session's description next to its name, in code points."""

PREVIEW = 240
"""Maximum length of an event's preview, in code points."""


@click.command(short_help="Search what was said and done in any session.")
@click.argument("words", nargs=-1, required=True, metavar="WORDS...")
@which_sessions
@click.option("--since", metavar="TIME", help="Only what happened since a date or time.")
@click.option("--until", metavar="TIME", help="Only what happened before a time, or by a day.")
@click.option(
    "--limit",
    type=click.IntRange(1, MAX_LIMIT),
    default=20,
    show_default=True,
    help="Hits to show.",
)
@click.option(
    "--literal", is_flag=True, help="Find the words as they are written, newest session first."
)
@click.option("--json", "as_json", is_flag=True, help="Print the result of history_list.")
def search(
    words: tuple[str, ...],
    host: str | None,
    project: bool,
    since: str | None,
    until: str | None,
    limit: int,
    literal: bool,
    as_json: bool,
) -> None:
    """Search all sessions for what the words are about, the best hits first.

    The words may be a question, in other forms than were used then; what stands in
    double quotes must occur as it is. Each hit comes with the command that reads it.
    The search stops after HINDNOTE_SEARCH_SECONDS (20) and says how far it came.

    With --literal an event is found that holds any of the words as it is written, in any
    case, and the session that changed last comes first; quote a phrase for the shell to
    search for it as a whole.

    \b
    hindnote search 'why did we leave webpack?'
    hindnote search --literal 'rate limit' throttling
    hindnote search --project --since 2026-11-01 migration
    """  # noqa: D301 (click reads the character itself)
    asked = asking(host, project)
    query = [clean(word) for word in words if word]
    if not query:
        raise click.UsageError("there is no word to search for")
    asks = {"query": query} if literal else {"about": " ".join(query)}
    arguments: dict[str, Any] = {"session": asked.selector, **asks, "limit": limit}
    if not as_json:
        arguments["max_chars_per_item"] = PREVIEW
    for name, value in (("since", since), ("until", until)):
        if value is not None:
            arguments[name] = clean(value)
    with waiting("searching") as progress:
        answer = asked.dispatcher.call(asked.call, "history_list", arguments, progress)
    if isinstance(answer.outcome, Refusal):
        leave_refused(answer.outcome)
    elif as_json:
        deliver(answer.structured(), json=True)
    else:
        _show(asked, dict(answer.result), literally(query) if literal else by_word(query))


def _show(asked: Asking, page: dict[str, Any], spans: Spans) -> None:
    from hindnote.core.cli.console import SafeConsole

    console = SafeConsole(highlight=False, soft_wrap=True)
    entries: dict[str, SessionEntry] = {}
    if page["items"]:
        targets = asked.dispatcher.sessions(asked.call).many(asked.selector)
        entries = {one.canonical: one.entry for one in targets if one.entry is not None}
    for session, rows in groupby(page["items"], lambda row: str(row["session"])):
        console.print(_heading(session, entries.get(session)))
        for row in rows:
            _show_hit(console, row, spans)
        console.print()
    console.print(summary(page, "--limit, --until, --project or --host reach the rest"))


def _heading(session: str, entry: SessionEntry | None) -> Text:
    from rich.text import Text

    heading = Text(shown(session), style="bold cyan")
    if entry is not None:
        facts = (local_time(entry.modified), folder(entry.cwd), shown(about(entry), ABOUT))
        heading.append("  ".join(["", *filter(None, facts)]), style="not bold default")
    return heading


def _show_hit(console: Console, row: dict[str, Any], spans: Spans) -> None:
    from rich.text import Text

    facts = [f"seq {row['seq']}", row["role"]]
    if "tool" in row:
        facts.append(f"{shown(row['tool'])} ({row['tool_status']})")
    facts.append(local_time(instant(row["created_at"])))
    if row.get("matches_total", 0) > 1:
        facts.append(counted(row["matches_total"], "match"))
    if "also_in" in row:
        facts.append(f"also in {counted(row['also_in'], 'other session')}")
    console.print(Text("  " + "  ".join(filter(None, facts)), style="green"))
    console.print(_preview(row, spans))
    console.print(Text(f"    {command(row)}", style="dim"))


def _preview(row: dict[str, Any], spans: Spans) -> Text:
    from rich.text import Text

    preview = Text(f"    {surrounded(row, shown(row['content']))}")
    for first, last in spans(preview.plain):
        preview.stylize("bold yellow", first, last)
    return preview


def command(row: dict[str, Any]) -> str:
    """Return the command that reads a hit, beginning where its preview starts."""
    arguments: dict[str, Any] = {"session": row["session"], "seq": row["seq"]}
    if row["offset_chars"]:
        arguments["offset_chars"] = row["offset_chars"]
    return f"hindnote call history_read {shlex.quote(json.dumps(arguments, ensure_ascii=False))}"
