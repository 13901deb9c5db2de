"""The six todo tools: their parameters, handlers and views."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from hindnote.core.project.contract.bounds import HASH_PATTERN, MAX_DESCRIPTION_CHARS, clip_utf16
from hindnote.core.project.contract.todos import TodoPriority, TodoStatus
from hindnote.core.project.outcome import Declined, Observation
from hindnote.core.project.rendering import View, issue_line
from hindnote.core.project.todos import creation, observe, transitions
from hindnote.core.project.todos.scan import Scan, identity
from hindnote.core.project.tool import Call, RootParams
from hindnote.core.text.messages import counted, inline

ContentHash = Annotated[str, Field(pattern=HASH_PATTERN)]


class ScanParams(RootParams):
    """Parameters of list, validate and allocate."""


class InspectParams(RootParams):
    """Parameters of an inspection."""

    path: str
    """Workspace-relative, as project_todo_list shows it."""


class CreateParams(RootParams):
    """Parameters of a creation."""

    title: str
    """One line; names the file as well."""

    priority: TodoPriority
    status: TodoStatus = "pending"
    body: str
    """Markdown, kept as it is."""

    frontmatter: dict[str, Any] | None = None
    """Further frontmatter keys."""

    expected_directory_hash: ContentHash | None = None
    """From project_todo_allocate or list; refused when the todos changed since."""


class TransitionParams(RootParams):
    """Parameters of a transition."""

    path: str
    """Workspace-relative, as project_todo_list shows it."""

    to_status: TodoStatus
    expected_content_hash: ContentHash
    """The todo's hash as it was read; refused when it changed since."""


SHORT_HASH = 12
"""Number of hexadecimal digits of a hash in the lines of a long list."""


def list_todos(call: Call, params: ScanParams) -> Observation:
    """Return every canonical todo and every issue."""
    return Observation(_scan_data(observe.observe(call.workspace)))


def _scan_data(found: Scan) -> dict[str, Any]:
    return {
        "root": _root(found),
        "todos": found.todos(),
        "issues": found.issues,
        "directory_hash": found.directory_hash,
    }


def _root(found: Scan) -> dict[str, str]:
    return {"path": found.root.relative, "availability": "present"}


def inspect(call: Call, params: InspectParams) -> Observation:
    """Return the state of one todo."""
    name = observe.file_name(call.workspace, params.path)
    found = observe.observe(call.workspace)
    entry = found.get(name)
    if entry is None:
        raise Declined("not_found", "there is no such Markdown file in the todos root")
    issues = found.issues_of(entry.name)
    blocked = any(issue["blocking"] for issue in issues)
    state = "conflict" if blocked else "invalid" if issues else "valid"
    data = {"root": _root(found), "state": state, "issues": issues}
    todo = identity(found.root, entry)
    return Observation(data if todo is None else {**data, "todo": todo})


def allocate(call: Call, params: ScanParams) -> Observation:
    """Return the next free id."""
    return Observation(creation.allocate(call.workspace, call.effects))


def create(call: Call, params: CreateParams) -> Observation:
    """Create a todo."""
    new = creation.NewTodo(
        params.title, params.priority, params.status, params.body, params.frontmatter or {}
    )
    made = creation.create(call.workspace, call.effects, new, params.expected_directory_hash)
    return Observation(made)


def transition(call: Call, params: TransitionParams) -> Observation:
    """Move a todo to another status."""
    name = observe.file_name(call.workspace, params.path)
    moved = transitions.transition(
        call.workspace, call.effects, name, params.to_status, params.expected_content_hash
    )
    return Observation(moved)


# -- views -----------------------------------------------------------------------


def scan_view(data: Mapping[str, Any], totals: Mapping[str, int]) -> View:
    """Render a scan as lines: issues, then todos."""
    todos, issues = data["todos"], data["issues"]
    blocking = sum(issue["blocking"] for issue in issues)
    where = data["root"]["path"]
    found = counted(len(todos), "todo", grouped=False)
    summary = f"{found} in {where}, {counted(len(issues), 'issue', grouped=False)}"
    if blocking:
        summary += f", {blocking} of them block every change"
    # Issues first, so that they are not lost after a long list.
    lines = [*map(issue_line, issues), *map(_short_todo_line, todos)]
    summary += f"; directory_hash {data['directory_hash']}"
    counts = {"todos": len(todos), "issues": len(issues), "blocking": blocking}
    return View(summary, lines, counts, _CUT_HASHES if todos else "")


_CUT_HASHES = f"hashes cut to {SHORT_HASH} digits, project_todo_inspect has whole ones"


def _short_todo_line(todo: Mapping[str, Any]) -> str:
    # The path of a canonical todo contains its id, status and priority.
    digits = todo["hash"].removeprefix("sha256:")[:SHORT_HASH]
    return " | ".join([todo["path"], *_title(todo), digits])


def _todo_line(todo: Mapping[str, Any]) -> str:
    state = f"{todo['status']} {todo['priority']}"
    return " | ".join([todo["path"], state, *_title(todo), todo["hash"]])


def _title(todo: Mapping[str, Any]) -> list[str]:
    return [inline(clip_utf16(todo["title"], MAX_DESCRIPTION_CHARS))] if "title" in todo else []


def inspect_view(data: Mapping[str, Any], totals: Mapping[str, int]) -> View:
    """Render an inspection as lines."""
    lines = [_todo_line(data["todo"])] if "todo" in data else []
    lines += map(issue_line, data["issues"])
    return View(f"state: {data['state']}", lines, {"issues": len(data["issues"])})


def allocate_view(data: Mapping[str, Any], totals: Mapping[str, int]) -> View:
    """Render an allocation as a line."""
    return View(
        f"next id {data['rendered_id']}, not reserved; directory_hash {data['directory_hash']}"
    )


def create_view(data: Mapping[str, Any], totals: Mapping[str, int]) -> View:
    """Render a creation as lines."""
    return View(f"created {data['todo']['path']}", [_todo_line(data["todo"])])


def transition_view(data: Mapping[str, Any], totals: Mapping[str, int]) -> View:
    """Render a transition as lines."""
    status = data["todo"]["status"]
    return View(
        f"{data['previous_path']} is now {status}: {data['todo']['path']}",
        [_todo_line(data["todo"])],
    )
