"""Outputs of the six todo tools."""

from __future__ import annotations

from typing import Annotated, Literal

from hindnote.core.project.contract.bounds import (
    MAX_ISSUES,
    MAX_TODOS,
    DescriptionText,
    HashText,
    IdNumber,
    PathText,
    RenderedId,
    Rows,
)
from hindnote.core.project.contract.envelope import (
    Closed,
    Completeness,
    Counted,
    Issue,
    RootState,
    Success,
    unset,
)

TodoStatus = Literal["pending", "ready", "complete"]
TodoPriority = Literal["p1", "p2", "p3"]


class Todo(Closed):
    """The identity of one todo."""

    path: PathText
    id: IdNumber
    status: TodoStatus
    priority: TodoPriority
    hash: HashText
    """Of the file's bytes."""

    title: DescriptionText = unset()
    """Title in the frontmatter; missing when there is none."""


class ScanData(Closed):
    """Data of ``project_todo_list`` and ``project_todo_validate``."""

    root: RootState
    todos: Annotated[list[Todo], Rows(MAX_TODOS, "todos")]
    issues: Annotated[list[Issue], Rows(MAX_ISSUES, "issues")]
    directory_hash: HashText


class ScanCollections(Closed):
    """Collections of a scan."""

    todos: Counted
    issues: Counted


class ScanCompleteness(Completeness):
    """Completeness of a scan."""

    collections: ScanCollections


class ScanSuccess(Success):
    """A completed scan, whatever it found."""

    data: ScanData
    completeness: ScanCompleteness


class InspectData(Closed):
    """Data of ``project_todo_inspect``."""

    root: RootState
    state: Literal["valid", "invalid", "conflict"]
    todo: Todo = unset()
    """The identity as the file's name has it, when it is canonical."""

    issues: Annotated[list[Issue], Rows(MAX_ISSUES, "issues")]


class InspectCollections(Closed):
    """Collections of an inspection."""

    issues: Counted


class InspectCompleteness(Completeness):
    """Completeness of an inspection."""

    collections: InspectCollections


class InspectSuccess(Success):
    """A completed inspection, whatever it found."""

    data: InspectData
    completeness: InspectCompleteness


class NoCollections(Closed):
    """A mutation returns no collections."""


class MutationCompleteness(Completeness):
    """Completeness of a mutation's data; omitted references are counted in its effects."""

    collections: NoCollections


class AllocateData(Closed):
    """Data of ``project_todo_allocate``. An allocation does not reserve the id."""

    id: IdNumber
    rendered_id: RenderedId
    directory_hash: HashText
    reserved: Literal[False]


class AllocateSuccess(Success):
    """A completed allocation."""

    data: AllocateData
    completeness: MutationCompleteness


class CreateData(Closed):
    """Data of ``project_todo_create``."""

    todo: Todo


class CreateSuccess(Success):
    """A created todo."""

    data: CreateData
    completeness: MutationCompleteness


class TransitionData(Closed):
    """Data of ``project_todo_transition``."""

    todo: Todo
    previous_path: PathText


class TransitionSuccess(Success):
    """A completed transition."""

    data: TransitionData
    completeness: MutationCompleteness
