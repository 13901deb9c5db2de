"""Select the notes of a list or a search, and the rows that fit the budget."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import Struct

from hindnote.core.delivery.budget import Size, longest_rows, measure, utf8_size
from hindnote.core.errors import Refused
from hindnote.core.notes import clock, glob
from hindnote.core.notes.facts import newest_first
from hindnote.core.notes.operations.models import NotesList, NotesSearch
from hindnote.core.tools.outcome import wire_json

if TYPE_CHECKING:
    from hindnote.core.delivery.budget import Budget
    from hindnote.core.notes.facts import Facts
    from hindnote.core.notes.operations.models import ListParams
    from hindnote.core.notes.reader import Reader

L = TypeVar("L", NotesList, NotesSearch)


class View(Struct):
    """The notes that a call asks for, newest first, and counts of those left out."""

    notes: list[Facts]
    archived_excluded: int
    unreadable: int
    homes_unavailable: list[str]

    def overview(self, more: int) -> dict[str, Any]:
        """Return the fields that the results of a list and of a search share."""
        return {
            "more": more,
            "archived_excluded": self.archived_excluded,
            "unreadable": self.unreadable,
            "homes_unavailable": self.homes_unavailable,
        }

    def too_large(self) -> Refused:
        """Return the refusal when not even one note fits."""
        return Refused(
            "output_too_large",
            f"not one of {len(self.notes)} notes fits 32 KiB; narrow the selection with glob",
        )


def view(notes: Reader, params: ListParams) -> View:
    """Return the notes that a call asks for.

    Raises:
        Refused: ``invalid_cwd``, ``invalid_glob``, ``no_current_session``.
    """
    unavailable: list[str] = []
    scope = glob.scope(notes.homes, params.glob, lambda kind: notes.files.slugs(kind, unavailable))
    if notes.homes.project_key is None and glob.takes_default(params.glob):
        unavailable.append("@project")
    found = notes.files.contents(scope.homes)
    asked = found.notes
    if params.glob is not None:
        asked = [facts for facts in asked if scope.holds(facts.home, facts.path)]
    shown = [facts for facts in asked if (facts.archived_at is not None) is params.archived]
    return View(
        notes=newest_first(shown),
        archived_excluded=0 if params.archived else len(asked) - len(shown),
        unreadable=found.unreadable,
        homes_unavailable=[*unavailable, *found.unavailable],
    )


def row_fields(notes: Reader, facts: Facts) -> dict[str, Any]:
    """Return the fields of one note's row that a list and a search share."""
    row: dict[str, Any] = {
        "address": facts.address,
        "updated_at": clock.format_ms(facts.updated),
        "total_chars": facts.chars,
    }
    if facts.home.kind == "project":
        row["project_key"] = notes.homes.project_key
    if facts.archived_at is not None:
        row["archived_at"] = facts.archived_at
    if facts.problem is not None:
        row["problem"] = facts.problem
    if facts.home.owner is not None:
        row["inherited_from"] = facts.home.owner
    return row


class Rows:
    """Rows that are built on first access, each only once.

    Args:
        total: The number of rows.
        make: Builds the row at an index.
        text: Renders one row.
    """

    def __init__(self, total: int, make: Callable[[int], Any], text: Callable[[Any], str]) -> None:
        self._total = total
        self._make = make
        self._text = text
        self._rows: list[Any] = []

    def first(self, count: int) -> list[Any]:
        """Return the first ``count`` rows."""
        while len(self._rows) < count:
            self._rows.append(self._make(len(self._rows)))
        return self._rows[:count]

    def fitting(
        self,
        limit: int | None,
        build: Callable[[Sequence[Any]], L],
        text: Callable[[L], str],
        budget: Budget,
    ) -> int:
        """Return how many of the first rows fit the budget.

        Args:
            limit: Maximum number of rows; None for all.
            build: Builds the result from some rows.
            text: Renders a result.
            budget: The maximum size of both forms.
        """

        def fits(count: int) -> bool:
            result = build(self.first(count))
            return budget.fits(result, text(result))

        empty = build([])
        most = self._total if limit is None else min(limit, self._total)
        return longest_rows(self._sizes(most), most, measure(empty, text(empty)), fits, budget)

    def _sizes(self, count: int) -> Iterator[Size]:
        for index in range(count):
            row = self.first(index + 1)[index]
            yield Size(utf8_size(wire_json(row)), utf8_size(self._text(row)))
