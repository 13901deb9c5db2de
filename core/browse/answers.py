"""Answers to a browser: pages from templates, in which every value is escaped."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from msgspec import Struct
from starlette.responses import HTMLResponse, Response

from hindnote.core.browse.world import World
from hindnote.core.presentation.view import visible

if TYPE_CHECKING:
    from starlette.requests import Request

TEMPLATES = Path(__file__).with_name("templates")
_LAST_SEQ = "x-last-seq"


class Problem(Exception):
    """Something that cannot be shown; the message says why."""


class Answers(Struct, frozen=True):
    """Makes answers."""

    world: World
    templates: Environment

    @classmethod
    def of(cls, world: World) -> Answers:
        """Return an object that makes the answers about a world."""
        templates = Environment(
            loader=FileSystemLoader(TEMPLATES),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            finalize=_finalized,
        )
        return cls(world, templates)

    def page(self, template: str, *, status: int = 200, **values: Any) -> HTMLResponse:
        """Return a page."""
        values = {"base": self.world.base, "q": "", "here": template, **values}
        return HTMLResponse(self.templates.get_template(template).render(values), status)

    def fragment(self, html: str, last_seq: str) -> Response:
        """Return HTML elements that are no whole page; with the status 204 when there are none."""
        if not html:
            return Response(status_code=204)
        return HTMLResponse(html, headers={_LAST_SEQ: last_seq})

    def problem(self, message: str, status: int) -> HTMLResponse:
        """Return the page that says what is wrong."""
        return self.page("problem.html", status=status, title="Not shown", message=message)

    def missing(self, request: Request, error: Exception) -> HTMLResponse:
        """Return the answer for an address without a page (404)."""
        return self.problem("there is no such page", 404)


def _finalized(value: object) -> object:
    """Return a value; if it is a text, with its hidden characters made visible."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def number(given: str | None, otherwise: int) -> int:
    """Return a number from the request's parameters, or the default."""
    if given is None or not (given.isascii() and given.isdigit()) or len(given) > 15:
        return otherwise
    return int(given)
