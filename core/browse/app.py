"""The web application: its addresses, and the answers for errors."""

from __future__ import annotations

import logging
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Mount, Route

from hindnote.core.browse.answers import Answers, Problem
from hindnote.core.browse.notes import NotePages
from hindnote.core.browse.pages import SessionPages
from hindnote.core.browse.project import ProjectPages
from hindnote.core.errors import ArgumentError, HostFailure, Refused
from hindnote.core.reader.html import style

if TYPE_CHECKING:
    from starlette.requests import Request

    from hindnote.core.browse.world import World

STATIC = Path(__file__).with_name("static")
_KINDS = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
_MISSING = frozenset(
    {"unknown_session", "unknown_seq", "not_found", "not_on_branch", "not_an_event"}
)


def make_app(world: World) -> Starlette:
    """Return the application that shows a world; its addresses begin with the world's ``base``."""
    answers = Answers.of(world)
    sessions, notes, projects = SessionPages(answers), NotePages(answers), ProjectPages(answers)

    def refused(request: Request, error: Exception) -> Response:
        if isinstance(error, Refused):
            missing = error.refusal.code in _MISSING
            return answers.problem(error.refusal.message, 404 if missing else 422)
        return answers.problem(str(error), 422)

    def failed(request: Request, error: Exception) -> Response:
        # The message names the plugin; its traceback belongs in the log.
        logging.getLogger("hindnote.browse").warning("%s", error, exc_info=error.__cause__)
        return answers.problem(str(error), 500)

    pages = [
        Route("/", sessions.sessions),
        Route("/s/{session:path}", sessions.session),
        Route("/live/{session:path}", sessions.live),
        Route("/search", sessions.search),
        Route("/notes", notes.homes),
        Route("/notes/{path:path}", notes.note),
        Route("/project", projects.project),
        Route("/document/{path:path}", projects.document),
        Route("/static/{name}", static),
    ]
    return Starlette(
        routes=[Mount(world.base.rstrip("/"), routes=pages)],
        exception_handlers={
            Refused: refused,
            Problem: refused,
            ArgumentError: refused,
            HostFailure: failed,
            404: answers.missing,
        },
    )


def static(request: Request) -> Response:
    """Answer with a style sheet, a script or a picture of the pages."""
    found = _static().get(request.path_params["name"])
    if found is None:
        return PlainTextResponse("there is no such file\n", 404)
    return Response(found[0], media_type=found[1])


@cache
def _static() -> dict[str, tuple[bytes, str]]:
    files = {
        file.name: (file.read_bytes(), _KINDS[file.suffix])
        for file in STATIC.iterdir()
        if file.suffix in _KINDS
    }
    own, kind = files["page.css"]
    files["page.css"] = (style().encode() + own, kind)
    return files
