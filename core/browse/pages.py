"""The pages of sessions and searches."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from itertools import groupby
from typing import TYPE_CHECKING, Any

from markupsafe import Markup
from msgspec import Struct

from hindnote.core.browse.answers import Answers, Problem, number
from hindnote.core.browse.world import projects_of
from hindnote.core.errors import Refusal, Refused
from hindnote.core.history.times import bound
from hindnote.core.presentation.view import visible
from hindnote.core.reader.hits import by_word, literally, summary, surrounded
from hindnote.core.reader.html import BODY_LIMIT, Drawing, drawn
from hindnote.core.reader.listing import about, forest, project_of
from hindnote.core.reader.listing import drawn as tree_drawn
from hindnote.core.reader.page import PAGE, TEXT_LIMIT, Reading
from hindnote.core.text import clean
from hindnote.core.text.minutes import local_minute

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from hindnote.core.history.projection import Projection
    from hindnote.core.plugins.models import SessionEntry
    from hindnote.core.reader.hits import Spans
    from hindnote.core.reader.page import Page

LISTED = 60
"""Number of sessions on a page."""

WHOLE = 250_000
"""Maximum number of code points of an event that is alone on its page."""

WHOLE_BODY = 1_500_000
"""Maximum number of characters of HTML for a tool's result that is alone on its page."""

HITS = 40
PREVIEW = 320
FAMILY = 60
"""Maximum number of forks and subagents that a session's page lists."""


class SessionPages(Struct, frozen=True):
    """The handlers of these pages; each runs in a thread of its own."""

    answers: Answers

    # -- the list --------------------------------------------------------------

    def sessions(self, request: Request) -> Response:
        """Answer with the list of sessions."""
        world, asked = self.answers.world, request.query_params
        words, host, project = (clean(asked.get(name, "")) for name in ("q", "host", "project"))
        since = asked.get("since", "")
        found = world.sessions()
        every = world.entries(found)
        chosen = world.filtered(every, words, host, project, bound("since", clean(since) or None))
        page = number(asked.get("page"), 1)
        start = (page - 1) * LISTED
        shown = [world.listed(entry) for entry in chosen[start : start + LISTED]]
        given: dict[str, Any] = {"q": words, "host": host, "project": project, "since": since}
        return self.answers.page(
            "sessions.html",
            title="Sessions",
            days=[(day, list(rows)) for day, rows in groupby(shown, key=lambda row: row.day)],
            total=len(chosen),
            first=start + 1,
            last=start + len(shown),
            newer=world.link("", **given, page=page - 1) if page > 1 else None,
            older=world.link("", **given, page=page + 1) if start + LISTED < len(chosen) else None,
            projects=[
                (name, count, world.link("", **{**given, "project": name}))
                for name, count in projects_of(every)
            ],
            hosts=sorted({entry.host for entry in every}),
            missing=[f"{slug}: {found.failures[slug]}" for slug in sorted(found.failures)],
            **given,
        )

    # -- one session -----------------------------------------------------------

    def session(self, request: Request) -> Response:
        """Answer with a page of a session."""
        world, asked = self.answers.world, request.query_params
        name = clean(request.path_params["session"])
        projection, entry = world.open(name)
        full = bool(asked.get("full")) and bool(asked.get("seq"))
        reading = Reading(projection, limit=WHOLE if full else TEXT_LIMIT)
        page = _page_of(reading, asked)
        how = self._how(name, opened=bool(asked.get("seq")), full=full)
        header = projection.header
        is_newest = not page.newer
        return self.answers.page(
            "session.html",
            title=header.name or (about(entry) if entry else "") or name,
            session=name,
            project=project_of(header.cwd),
            cwd=header.cwd or "",
            started=local_minute(header.started),
            note=header.note,
            damaged=len(projection.damaged),
            items=Markup(drawn(page, how)),
            first_seq=page.first_seq,
            last_seq=page.last_seq or 0,
            end=projection.last_seq,
            older=f"?before={page.first_seq}" if page.older else None,
            newer=f"?after={page.last_seq}" if page.newer else None,
            windows=_windows(reading, projection),
            family=self._family(entry) if entry else (),
            live=world.link(f"live/{name}") if is_newest and not asked.get("seq") else "",
        )

    def live(self, request: Request) -> Response:
        """Answer with the events after a seq, as HTML elements."""
        world, asked = self.answers.world, request.query_params
        name = clean(request.path_params["session"])
        reading = Reading(world.open(name)[0])
        page = reading.after(number(asked.get("after"), 0))
        return self.answers.fragment(drawn(page, self._how(name)), str(page.last_seq or ""))

    def _how(self, session: str, *, opened: bool = False, full: bool = False) -> Drawing:
        world = self.answers.world
        address = world.session_link(session)
        return Drawing(
            session=session,
            # An event that is too large for a page of its own is shown by the command line.
            link=None if full else lambda seq: f"{address}?seq={seq}&full=1",
            anchor=lambda seq: world.session_link(session, seq),
            full=full,
            opened=opened,
            body_limit=WHOLE_BODY if full else BODY_LIMIT,
        )

    def _family(self, entry: SessionEntry) -> list[tuple[str, Any, bool]]:
        """Return the forks and subagents around a session, with the lines of their tree."""
        world = self.answers.world
        every = world.entries()
        related = {entry.canonical: entry}
        children: dict[str, list[SessionEntry]] = {}
        for one in every:
            if one.parent:
                children.setdefault(f"{one.host}:{one.parent}", []).append(one)
        waiting = [node.entry for root in forest(every, [entry]) for node in _line(root)]
        while waiting and len(related) < FAMILY:
            one = waiting.pop()
            related[one.canonical] = one
            waiting += [c for c in children.get(one.canonical, ()) if c.canonical not in related]
        if len(related) == 1:
            return []
        tree = tree_drawn(forest(every, list(related.values())))
        return [
            (one.lines, world.listed(one.node.entry), one.node.entry.canonical == entry.canonical)
            for one in tree
        ]

    # -- search ----------------------------------------------------------------

    def search(self, request: Request) -> Response:
        """Answer with what a search finds in all sessions."""
        world, asked = self.answers.world, request.query_params
        words = clean(asked.get("q", "")).strip()
        host, project = (clean(asked.get(name, "")) for name in ("host", "project"))
        since, until = (clean(asked.get(name, "")) for name in ("since", "until"))
        literal = asked.get("mode") == "exact"
        every = world.entries()
        fields = {"q": words, "host": host, "project": project, "since": since, "until": until}
        common: dict[str, Any] = {
            "title": f"{words} · search" if words else "Search",
            "mode": "exact" if literal else "ranked",
            "projects": [(name, count, "") for name, count in projects_of(every)],
            "hosts": sorted({entry.host for entry in every}),
            **fields,
        }
        if not words:
            return self.answers.page("search.html", groups=[], summary="", **common)
        result = self._found(words, literal, host, project, since, until)
        spans = literally([words]) if literal else by_word([words])
        by_name = {entry.canonical: entry for entry in every}
        groups = [
            (
                world.listed(by_name[name]) if name in by_name else None,
                name,
                [self._hit(row, spans) for row in rows],
            )
            for name, rows in groupby(result["items"], key=lambda row: str(row["session"]))
        ]
        return self.answers.page(
            "search.html",
            groups=groups,
            summary=summary(result, "narrow the search to reach the rest"),
            **common,
        )

    def _found(
        self, words: str, literal: bool, host: str, project: str, since: str, until: str
    ) -> dict[str, Any]:
        world, call = self.answers.world, self.answers.world.call
        selector = f"{host}:*" if host else "*"
        if project:
            directory = world.directory_of(project)
            if directory is None:
                raise Problem(f"the project {project} has no directory that is there now")
            # The project of a search is that of the call's directory.
            call, selector = call.model_copy(update={"cwd": directory}), "project:*"
        arguments = {
            "session": selector,
            **({"query": words} if literal else {"about": words}),
            **({"since": since} if since else {}),
            **({"until": until} if until else {}),
            "limit": HITS,
            "max_chars_per_item": PREVIEW,
        }
        answer = world.dispatcher.call(call, "history_list", arguments)
        if isinstance(answer.outcome, Refusal):
            raise Refused(answer.outcome.code, answer.outcome.message)
        found = dict(answer.result)
        if project and host:
            found["items"] = [
                row for row in found["items"] if row["session"].startswith(f"{host}:")
            ]
        return found

    def _hit(self, row: dict[str, Any], spans: Spans) -> dict[str, Any]:
        content = " ".join(str(row["content"]).split())
        return {
            "link": self.answers.world.session_link(row["session"], row["seq"]),
            "seq": row["seq"],
            "who": row.get("tool") or row["role"],
            "time": local_minute(row["created_at"]),
            "also_in": row.get("also_in"),
            "text": Markup(_marked(visible(surrounded(row, content)), spans)),
        }


def _page_of(reading: Reading, asked: Any) -> Page:
    """Return the page of a session that a request's parameters ask for."""
    if asked.get("seq"):
        return reading.one(number(asked.get("seq"), 1))
    if asked.get("around"):
        return reading.around(number(asked.get("around"), 1))
    if asked.get("after") is not None:
        return reading.after(number(asked.get("after"), 0))
    before = number(asked.get("before"), 0)
    return reading.before(before or None, PAGE)


def _windows(reading: Reading, projection: Projection) -> list[dict[str, Any]]:
    """Return the windows of a session; empty when there is only one."""
    windows = reading.windows
    if len(windows) < 2:
        return []
    ends = [*(first - 1 for first in windows[1:]), projection.last_seq]
    return [
        {"number": at + 1, "first": first, "last": last, "link": f"?after={first - 1}"}
        for at, (first, last) in enumerate(zip(windows, ends, strict=True))
    ]


def _line(root: Any) -> Iterator[Any]:
    """Yield a node and the nodes below it, as long as each has one child."""
    while True:
        yield root
        if not root.children:
            return
        root = root.children[0]


def _marked(text: str, spans: Spans) -> str:
    pieces, end = [], 0
    for first, last in spans(text):
        pieces += [escape(text[end:first]), f"<mark>{escape(text[first:last])}</mark>"]
        end = last
    return "".join(pieces) + escape(text[end:])
