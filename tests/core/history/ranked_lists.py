"""Lists by what events are about, over sessions in memory."""

from __future__ import annotations

from typing import Any

from fake_sessions import FakeSource, SessionBuilder, bound_call

from hindnote.core.history.operations.list import HISTORY_LIST
from hindnote.core.tools.outcome import Success, wire

Row = dict[str, Any]

IMPORTER = "The importer crashed because the delivery had no header line"
BUTTONS = "Paint the buttons of the settings page blue"
QUESTION = "why did importing crash on files without headers"


HAY = (
    "Rename the module of the invoices and move its tests",
    "Which fonts does the letterhead use?",
    "Deploy the staging server on Friday",
    "Translate the welcome mail into Dutch",
    "The chart needs a legend, and its axis begins at zero",
    "Write down how backups are restored",
)
"""What else was said: among too little, no word is rare."""


def listed(
    found: FakeSource, about: str | None = QUESTION, call: Row | None = None, **args: Any
) -> Row:
    bound = bound_call(found, **(call or {}))
    asked = HISTORY_LIST.bind({"session": "*", "about": about, **args})
    outcome = HISTORY_LIST.handle(bound, asked)
    assert isinstance(outcome, Success)
    assert bound.budget.fits(outcome.data, HISTORY_LIST.render(outcome.data))
    return wire(outcome)


def where(page: Row) -> list[tuple[str, int]]:
    return [(row["session"], row["seq"]) for row in page["items"]]


def talk(session_id: str, *texts: str, host: str = "pi", day: int = 30) -> SessionBuilder:
    builder = SessionBuilder(session_id, host=host)
    for number, text in enumerate(texts, start=1):
        builder.user(
            text, entry_id=f"{session_id}-{number}", created_at=f"2026-11-{day:02}T09:00:00Z"
        )
    return builder
