"""What a list and a search show: scope, order, and the rows that fit the budget."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import Struct

from hindnote.core.budget import Size, longest, longest_rows, measure, utf8_size
from hindnote.core.matching import Matcher
from hindnote.core.notes import catalogue, clock, glob
from hindnote.core.notes.bodies import Bodies
from hindnote.core.notes.facts import newest_first
from hindnote.core.notes.operations import render
from hindnote.core.notes.operations.matches import Hits, cut, hits
from hindnote.core.notes.operations.models import FoundNote, NoteRow, NotesList, NotesSearch
from hindnote.core.outcome import Refused, wire_json

if TYPE_CHECKING:
    from hindnote.core.budget import Budget
    from hindnote.core.notes.facts import Facts
    from hindnote.core.notes.operations.models import ListParams, SearchParams
    from hindnote.core.notes.reader import Reader

R = TypeVar("R", bound=NoteRow)
L = TypeVar("L", NotesList, NotesSearch)


class View(Struct):
    """The notes that a call asks for, newest first, and what was left out of them."""

    notes: list[Facts]
    archived_excluded: int
    unreadable: int
    homes_unavailable: list[str]

    def overview(self, more: int) -> dict[str, Any]:
        """Return the fields that a list and a search share."""
        return {
            "more": more,
            "archived_excluded": self.archived_excluded,
            "unreadable": self.unreadable,
            "homes_unavailable": self.homes_unavailable,
        }


def view(notes: Reader, params: ListParams) -> View:
    """Return what a call asks for.

    Raises:
        Refused: ``invalid_glob``, ``no_current_session``.
    """
    unavailable: list[str] = []
    scope = glob.scope(
        notes.homes, params.glob, lambda kind: catalogue.slugs(notes.tree, kind, unavailable)
    )
    found = catalogue.contents(notes.tree, scope.homes)
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


def list_notes(notes: Reader, params: ListParams, budget: Budget) -> NotesList:
    """Return the notes that fit, newest first.

    Raises:
        Refused: ``invalid_glob``, ``no_current_session``, ``output_too_large``.
    """
    seen = view(notes, params)
    total = len(seen.notes)

    def build(rows: Sequence[NoteRow]) -> NotesList:
        return NotesList(files=list(rows), **seen.overview(total - len(rows)))

    rows = _Rows(lambda index: NoteRow(**_row(notes, seen.notes[index])), render.row)
    count = _fitting(rows, _limit(params, total), build, render.listed, budget)
    if total and not count:
        raise _too_large(seen)
    return build(rows.first(count))


def search_notes(notes: Reader, params: SearchParams, budget: Budget) -> NotesSearch:
    """Return the notes that match and fit, newest first.

    Raises:
        Refused: ``invalid_glob``, ``no_current_session``, ``output_too_large``.
    """
    seen = view(notes, params)
    matcher = Matcher.from_query(params.query)
    found = [(facts, Hits(0, ())) for facts in seen.notes]
    if matcher is not None:
        found = list(_matching(notes, seen, matcher))
    total = len(found)

    def build(rows: Sequence[FoundNote]) -> NotesSearch:
        return NotesSearch(files=list(rows), **seen.overview(total - len(rows)))

    def make(index: int) -> FoundNote:
        facts, found_in = found[index]
        return FoundNote(
            **_row(notes, facts), matches_total=found_in.total, matches=list(found_in.first)
        )

    rows = _Rows(make, render.found)
    count = _fitting(rows, _limit(params, total), build, render.searched, budget)
    if total and not count:
        return _shrunk(rows.first(1)[0], build, budget, seen)
    return build(rows.first(count))


def _limit(params: ListParams, total: int) -> int:
    return total if params.limit is None else min(params.limit, total)


def _row(notes: Reader, facts: Facts) -> dict[str, Any]:
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
    return row


class _Rows:
    """Rows made when they are looked at, once."""

    def __init__(self, make: Callable[[int], Any], text: Callable[[Any], str]) -> None:
        self._make = make
        self._text = text
        self._rows: list[Any] = []

    def first(self, count: int) -> list[Any]:
        while len(self._rows) < count:
            self._rows.append(self._make(len(self._rows)))
        return self._rows[:count]

    def sizes(self, count: int) -> Iterator[Size]:
        for index in range(count):
            row = self.first(index + 1)[index]
            yield Size(utf8_size(wire_json(row)), utf8_size(self._text(row)))


def _fitting(
    rows: _Rows,
    limit: int,
    build: Callable[[Sequence[Any]], L],
    text: Callable[[L], str],
    budget: Budget,
) -> int:
    def fits(count: int) -> bool:
        result = build(rows.first(count))
        return budget.fits(result, text(result))

    empty = build([])
    return longest_rows(rows.sizes(limit), limit, measure(empty, text(empty)), fits, budget)


def _matching(notes: Reader, seen: View, matcher: Matcher) -> Iterator[tuple[Facts, Hits]]:
    with Bodies(notes) as bodies:
        for facts in seen.notes:
            try:
                found = hits(bodies.body(facts), matcher)
            except Refused as refused:
                # What cannot be searched is counted; what is gone is no note any more.
                seen.unreadable += refused.code != "not_found"
                continue
            if found.total:
                yield facts, found


def _shrunk(
    row: FoundNote, build: Callable[[Sequence[FoundNote]], NotesSearch], budget: Budget, seen: View
) -> NotesSearch:
    """Return a search whose first note does not fit: fewer matches, or a cut first one.

    Raises:
        Refused: ``output_too_large``.
    """

    def with_matches(count: int) -> NotesSearch:
        return build([row.model_copy(update={"matches": row.matches[:count]})])

    def with_cut(chars: int) -> NotesSearch:
        return build([row.model_copy(update={"matches": [cut(row.matches[0], chars)]})])

    def fits(result: NotesSearch) -> bool:
        return budget.fits(result, render.searched(result))

    count = longest(len(row.matches), lambda n: fits(with_matches(n)))
    if count:
        return with_matches(count)
    chars = longest(len(row.matches[0].text), lambda n: fits(with_cut(n))) if row.matches else 0
    if not chars:
        raise _too_large(seen)
    return with_cut(chars)


def _too_large(seen: View) -> Refused:
    return Refused(
        "output_too_large",
        f"not one of {len(seen.notes)} notes fits 32 KiB; narrow the selection with glob",
    )
