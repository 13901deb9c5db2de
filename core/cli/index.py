"""``hindnote index``: the index for ranked searches."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from hindnote.core.cli.screen import say
from hindnote.core.cli.session_options import (
    Asking,
    asking_for,
    leave_refused,
    local_time,
    waiting,
)
from hindnote.core.cli.tree import Failure
from hindnote.core.errors import Refusal
from hindnote.core.text.messages import counted

if TYPE_CHECKING:
    from hindnote.core.recall.schema import State


@click.command(short_help="Show, rebuild or delete the index of ranked searches.")
@click.option("--status", "what", flag_value="status", default=True, help="Show it.")
@click.option("--rebuild", "what", flag_value="rebuild", help="Delete it and index every session.")
@click.option("--delete", "what", flag_value="delete", help="Delete it.")
def index(what: str) -> None:
    """Show the index of ranked searches, rebuild it or delete it.

    It lies in the cache directory and holds numbers for words, and no text. Each search
    brings it up to date, so it need never be rebuilt, and may be deleted at any time.

    \b
    hindnote index --status
    """  # noqa: D301 (click reads the character itself)
    from hindnote.core.recall.schema import delete, index_file, state

    file, there = index_file(), False
    try:
        if what != "status":
            there = delete(file)
    except OSError as error:
        raise Failure(f"the index {file} cannot be deleted: {error.strerror}") from error
    if what == "delete":
        say(f"deleted {file}" if there else f"there is no index at {file}")
        return
    asked = asking_for("*")
    if what == "rebuild":
        _build(asked)
    say(status(state(file), asked))


def _build(asked: Asking) -> None:
    """Repeat the call until all sessions are indexed; each stops after HINDNOTE_SEARCH_SECONDS."""
    remaining = None
    while remaining != 0:
        with waiting("indexing") as progress:
            answer = asked.dispatcher.call(
                asked.call, "history_list", {"session": "*", "about": "index", "limit": 1}, progress
            )
        if isinstance(answer.outcome, Refusal):
            leave_refused(answer.outcome)
        left = answer.result["sessions_remaining"]
        if left == remaining:
            raise Failure(f"{counted(left, 'session')} cannot be indexed now; try again later")
        remaining = left


def status(found: State, asked: Asking) -> str:
    """Return a description of an index, in one line."""
    from hindnote.core.history.operations.coverage import up_to_date

    if not found.size:
        return f"no index yet; the first ranked search makes {found.file}"
    targets = asked.dispatcher.sessions(asked.call).many("*")
    current = up_to_date(found.known, targets)
    return (
        f"{found.file}: {found.size / 1e6:.1f} MB, changed {local_time(found.changed)}; "
        f"{current:,} of {counted(len(targets), 'session')} up to date"
    )
