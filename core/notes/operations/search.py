"""The operation ``notes_search``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from hindnote.core.delivery.budget import longest
from hindnote.core.errors import Refused
from hindnote.core.notes.operations import render
from hindnote.core.notes.operations.common import LOOKING
from hindnote.core.notes.operations.matches import Hits, cut, hits
from hindnote.core.notes.operations.models import FoundNote, NotesSearch, SearchParams
from hindnote.core.notes.operations.selection import Rows, row_fields, view
from hindnote.core.notes.reader import Reader
from hindnote.core.text.matching import Matcher, stringified
from hindnote.core.tools.operation import BoundCall, Hints, Operation
from hindnote.core.tools.outcome import Success

if TYPE_CHECKING:
    from hindnote.core.delivery.budget import Budget
    from hindnote.core.notes.facts import Facts
    from hindnote.core.notes.operations.selection import View


def _search(bound: BoundCall, params: SearchParams) -> Success[NotesSearch]:
    return Success(search_notes(Reader.of(bound), params, bound.budget))


def search_notes(notes: Reader, params: SearchParams, budget: Budget) -> NotesSearch:
    """Return the notes that match and fit, newest first; with ``about`` the best first.

    Raises:
        Refused: ``invalid_glob``, ``no_current_session``, ``output_too_large``.
    """
    seen = view(notes, params)
    matcher = Matcher.from_query(params.query)
    found = [(facts, Hits(0, ())) for facts in seen.notes]
    if params.about:
        # Only ranked searches need the index.
        from hindnote.core.notes.operations.about import by_subject

        found = by_subject(_bodies(notes, seen, matcher), params.about)
    elif matcher is not None:
        found = list(_matching(notes, seen, matcher))
    total = len(found)

    told = stringified(params.query) if not total else None
    note = {} if told is None else {"note": told}

    def build(rows: Sequence[FoundNote]) -> NotesSearch:
        return NotesSearch(files=list(rows), **seen.overview(total - len(rows)), **note)

    def make(index: int) -> FoundNote:
        facts, found_in = found[index]
        return FoundNote(
            **row_fields(notes, facts), matches_total=found_in.total, matches=list(found_in.first)
        )

    rows = Rows(total, make, render.found)
    count = rows.fitting(params.limit, build, render.searched, budget)
    if total and not count:
        return _shrunk(rows.first(1)[0], build, budget, seen)
    return build(rows.first(count))


def _matching(notes: Reader, seen: View, matcher: Matcher) -> Iterator[tuple[Facts, Hits]]:
    for facts, body in _bodies(notes, seen, None):
        found = hits(body, matcher)
        if found.total:
            yield facts, found


def _bodies(notes: Reader, seen: View, matcher: Matcher | None) -> Iterator[tuple[Facts, str]]:
    """Yield the notes with their bodies; with a matcher those that match."""
    with notes.bodies(seen.notes) as bodies:
        for facts in seen.notes:
            try:
                body = bodies.body(facts)
            except Refused as refused:
                # One that cannot be read is counted; one that was deleted meanwhile is not.
                seen.unreadable += refused.code != "not_found"
                continue
            if matcher is None or matcher.first(body) is not None:
                yield facts, body


def _shrunk(
    row: FoundNote, build: Callable[[Sequence[FoundNote]], NotesSearch], budget: Budget, seen: View
) -> NotesSearch:
    """Return a search whose first note is too large: with fewer matches, or one shortened match.

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
        raise seen.too_large()
    return with_cut(chars)


NOTES_SEARCH = Operation(
    name="notes_search",
    title="Search notes",
    description="Search note bodies by line; without query, list notes.",
    family="notes",
    params=SearchParams,
    success=NotesSearch,
    codes=LOOKING,
    hints=Hints(read_only=True),
    handle=_search,
    render=render.searched,
)
