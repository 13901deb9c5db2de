"""The pages about notes: all notes by home, and one note with its metadata and its versions."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from markupsafe import Markup
from msgspec import Struct

from hindnote.core.browse.answers import Answers, Problem
from hindnote.core.browse.versions import Asked, versions
from hindnote.core.errors import Refused
from hindnote.core.fs.handles import names_in
from hindnote.core.notes import catalogue, clock, files
from hindnote.core.notes.address import Address, Home
from hindnote.core.notes.facts import newest_first
from hindnote.core.notes.reader import existing
from hindnote.core.notes.tree import Tree
from hindnote.core.reader.listing import ago
from hindnote.core.reader.rendered import rendered
from hindnote.core.text import clean
from hindnote.core.text.slug import is_slug

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

BODY_LIMIT = 400_000
"""Maximum number of code points of a note's body that are shown."""

SESSION = "session"


class NotePages(Struct, frozen=True):
    """The handlers of these pages."""

    answers: Answers

    def homes(self, request: Request) -> Response:
        """Answer with all notes, by home."""
        tree, now = self._tree(), clock.now_ms() / 1000
        groups = []
        for home in homes(tree):
            found = catalogue.contents(tree, [home])
            notes = [
                {
                    "link": self.answers.world.link(
                        "notes/" + "/".join((*home.folder, facts.path))
                    ),
                    "path": facts.path,
                    "ago": ago(facts.updated / 1000, now),
                    "chars": f"{facts.chars:,}",
                    "archived": facts.archived_at is not None,
                    "problem": facts.problem,
                }
                for facts in newest_first(found.notes)
            ]
            if notes or found.unavailable:
                groups.append((name_of(home), notes, bool(found.unavailable)))
        return self.answers.page("notes.html", title="Notes", groups=groups, place=str(tree.home))

    def note(self, request: Request) -> Response:
        """Answer with one note."""
        tree = self._tree()
        path = tuple(clean(request.path_params["path"]).split("/"))
        home = next((one for one in homes(tree) if path[: len(one.folder)] == one.folder), None)
        if home is None or any(part in ("", ".", "..") for part in path):
            raise Refused("not_found", "there is no such note")
        address = Address(home, path[len(home.folder) :])
        shown = name_of(home) + "/" + "/".join(address.path)
        with tree.reading(path, shown) as place, files.refusing(shown):
            stored = existing(address, place)
        body = stored.note.body
        values = {**stored.note.values}
        world = self.answers.world
        asked = Asked(home, "/".join(address.path), body)
        return self.answers.page(
            "note.html",
            title=shown,
            updated=ago(stored.updated / 1000, clock.now_ms() / 1000),
            version=stored.version,
            values=[(key, _shown(value)) for key, value in values.items()],
            problem=stored.note.error,
            body=Markup(rendered(body[:BODY_LIMIT])),
            omitted=max(0, len(body) - BODY_LIMIT),
            versions=versions(world, asked),
        )

    def _tree(self) -> Tree:
        home = self.answers.world.home
        home.admit(self.answers.world.call.cwd)
        if home.problem:
            raise Problem(home.problem)
        if home.database is not None:
            raise Problem(f"The notes are in the {home.database}; these pages show folders alone.")
        return Tree(home.folder)


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def homes(tree: Tree) -> list[Home]:
    """Return all notes homes that exist, including those of all projects and sessions."""
    found = [Home("human", "@human/", ("human",))]
    found += [Home("project", "@project/", ("project", key)) for key in _names(tree, ("project",))]
    found += [
        Home("agents", f"@agents/{slug}/", ("agents", slug)) for slug in _names(tree, ("agents",))
    ]
    found += [
        Home("models", f"@models/{slug}/", ("models", slug)) for slug in _names(tree, ("models",))
    ]
    for host in _names(tree, ()):
        for session in _names(tree, (host, SESSION)):
            found.append(Home("session", "", (host, SESSION, session)))
    return found


def _names(tree: Tree, folder: tuple[str, ...]) -> list[str]:
    try:
        if not folder:
            names = [entry.name for entry in tree.home.iterdir() if (entry / SESSION).is_dir()]
            return sorted(name for name in names if is_slug(name))
        with tree.folder(folder, "/".join(folder)) as handle:
            return sorted(name for name in names_in(handle) if not name.startswith("."))
    except (OSError, Refused):
        return []


def name_of(home: Home) -> str:
    """Return a home's name, which tells it from the homes of other projects and sessions."""
    if home.kind == "project":
        return f"@project {home.folder[1]}"
    if home.kind == "session":
        return f"session {home.folder[0]}:{home.folder[2]}"
    return home.name
