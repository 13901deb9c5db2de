"""The pages of a project's documents and todos."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup
from msgspec import Struct

from hindnote.core.browse.answers import Answers, Problem
from hindnote.core.browse.world import projects_of
from hindnote.core.fs.handles import closing, read_file
from hindnote.core.project.markdown import parse_markdown
from hindnote.core.project.outcome import Declined
from hindnote.core.project.run import run_tool
from hindnote.core.project.workspace import locate
from hindnote.core.reader.listing import project_of
from hindnote.core.reader.rendered import rendered
from hindnote.core.text import clean

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

FILE_LIMIT = 1_000_000
"""Maximum number of bytes of a document that are shown."""

HITS = 100


class ProjectPages(Struct, frozen=True):
    """The handlers of these pages."""

    answers: Answers

    def project(self, request: Request) -> Response:
        """Answer with a project's documents and todos."""
        world = self.answers.world
        name = clean(request.query_params.get("project", "")) or project_of(str(world.call.cwd))
        words = clean(request.query_params.get("words", ""))
        every = world.entries()
        names = list(
            dict.fromkeys([project_of(str(world.call.cwd)), *(n for n, _ in projects_of(every))])
        )
        directory = world.directory_of(name)
        common: dict[str, Any] = {"title": f"Project {name}", "project": name, "names": names}
        if directory is None:
            return self.answers.page(
                "project.html", documents=[], todos=[], issues=[], words=words,
                problem="its directory is not there now", place="", **common,
            )  # fmt: skip
        # The index stays in memory, because these pages change no file.
        asked = {"query": words, "limit": HITS, "freshness": "memory", "scopes": ["docs"]}
        documents = run_tool("project_artifact_search", asked, base_cwd=directory).dto
        todos = run_tool("project_todo_list", {}, base_cwd=directory).dto
        return self.answers.page(
            "project.html",
            place=str(directory),
            words=words,
            problem="" if documents["ok"] else documents["error"]["message"],
            documents=[
                self._row(name, found) for found in documents["data"]["results"]
            ] if documents["ok"] else [],
            todos=[self._row(name, found) for found in todos["data"]["todos"]] if todos["ok"] else [],
            issues=[issue["message"] for issue in todos["data"]["issues"]] if todos["ok"] else [],
            **common,
        )  # fmt: skip

    def _row(self, project: str, found: dict[str, Any]) -> dict[str, Any]:
        path = found["path"]
        return {
            "path": path,
            "link": self.answers.world.link(f"document/{path}", project=project),
            "title": found.get("title") or path,
            "snippet": found.get("snippet", ""),
            "status": found.get("status", ""),
            "priority": found.get("priority", ""),
        }

    def document(self, request: Request) -> Response:
        """Answer with one document or todo."""
        path = clean(request.path_params["path"])
        name = clean(request.query_params.get("project", ""))
        directory = self.answers.world.directory_of(name)
        if directory is None:
            raise Problem("the project's directory is not there now")
        try:
            text = _read(directory, path)
        except (OSError, Declined, UnicodeDecodeError) as error:
            why = getattr(error, "strerror", None) or error
            raise Problem(f"{path} cannot be shown: {why}") from error
        parsed = parse_markdown(text)
        return self.answers.page(
            "document.html",
            title=path,
            project=name,
            values=[(key, str(value)) for key, value in parsed.values.items()],
            body=Markup(rendered(parsed.body)),
        )


def _read(directory: Path, path: str) -> str:
    """Return the text of a file below a project's roots of documents and todos.

    Raises:
        OSError: It cannot be read, is too large, is no regular file, or is reached through a link.
        Declined: It lies elsewhere.
        UnicodeDecodeError: It is no text.
    """
    *folders, name = path.split("/")
    with locate(directory) as workspace:
        roots = (workspace.docs.parts, workspace.todos.parts)
        inside = any(tuple(folders[: len(root)]) == root for root in roots)
        if not inside or ".." in folders or not name.endswith((".md", ".markdown")):
            raise Declined("outside_workspace", "it is no document or todo")
        with closing(workspace.open(tuple(folders))) as folder:
            return read_file(folder, name, FILE_LIMIT)[0].decode()
