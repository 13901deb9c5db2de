"""Allocate an id, and create a todo with one."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hindnote.core.project.contract.bounds import MAX_ID_DIGITS
from hindnote.core.project.contract.todos import TodoPriority, TodoStatus
from hindnote.core.project.effects import EffectLog
from hindnote.core.project.markdown import parse_markdown
from hindnote.core.project.outcome import Declined
from hindnote.core.project.state import digest, remove, seen, write_new
from hindnote.core.project.todos.content import new_content
from hindnote.core.project.todos.journal import new_id
from hindnote.core.project.todos.moves import place
from hindnote.core.project.todos.mutation import Held, mutation
from hindnote.core.project.todos.names import TodoName, kebab, render_id
from hindnote.core.project.todos.scan import Found, Scan, claimed_below, identity
from hindnote.core.project.workspace import Workspace


def allocate(workspace: Workspace, effects: EffectLog) -> dict[str, Any]:
    """Return the next free id without reserving it."""
    with mutation(workspace, effects) as held:
        found = held.scan()
        number = _next_id(held, found)
        effects.reached("allocated")
        return {
            "id": number,
            "rendered_id": render_id(number),
            "directory_hash": found.directory_hash,
            "reserved": False,
        }


def _next_id(held: Held, found: Scan) -> int:
    try:
        elsewhere = list(claimed_below(held.folder))
    except OSError as error:
        raise Declined(
            "root_unreadable",
            f"a folder in {found.root.relative} cannot be read ({error.strerror}), so an id that "
            "it holds might be given again; nothing was changed",
        ) from error
    number = found.next_id(elsewhere)
    if len(str(number)) > MAX_ID_DIGITS:
        raise Declined(
            "id_exhausted", f"the highest id in use leaves none of {MAX_ID_DIGITS} digits above it"
        )
    return number


@dataclass(frozen=True, slots=True)
class NewTodo:
    """The content of a new todo."""

    title: str
    priority: TodoPriority
    status: TodoStatus
    body: str
    extra: Mapping[str, Any]
    """Further frontmatter."""


def create(
    workspace: Workspace, effects: EffectLog, new: NewTodo, expected_directory_hash: str | None
) -> dict[str, Any]:
    """Create a todo with the next id and return its identity."""
    with mutation(workspace, effects, create_root=True) as held:
        found = held.scan()
        if expected_directory_hash not in (None, found.directory_hash):
            raise Declined(
                "stale_directory",
                "the todos root changed since expected_directory_hash was taken; look again",
                expected=expected_directory_hash,
                actual=found.directory_hash,
            )
        name = TodoName(
            render_id(_next_id(held, found)), new.status, new.priority, kebab(new.title)
        )
        content = new_content(name, new.title, new.extra, new.body)
        _create_exclusively(held, name.file, content)
        entry = Found(name.file, name, digest(content), parse_markdown(content.decode()))
        return {"todo": identity(workspace.todos, entry)}


def _create_exclusively(held: Held, name: str, content: bytes) -> None:
    effects, path = held.effects, held.workspace.todos.shown(name)
    staged = f"{new_id()}.create"
    effects.reached("staging")
    write_new(held.staging, staged, content)
    effects.may_change(path)
    effects.reached("publishing")
    try:
        place(held.staging, staged, held.folder, name)
        now = seen(held.folder, name)
    except Declined:
        effects.did_not_change(path)
        remove(held.staging, staged)
        raise
    except OSError:
        _undo_creation(held, name, staged, digest(content))
        raise
    if now != digest(content):
        raise Declined(
            "changed", "the new todo was changed while it was made; it is left as it is", path=path
        )
    effects.changed(path, now)
    effects.reached("created")
    with contextlib.suppress(OSError):
        remove(held.staging, staged)


def _undo_creation(held: Held, name: str, staged: str, expected: str) -> None:
    effects, path = held.effects, held.workspace.todos.shown(name)
    with contextlib.suppress(OSError), effects.rolling_back():
        if seen(held.folder, name) == expected:
            effects.changed(path, expected)
            os.unlink(name, dir_fd=held.folder)
            effects.changed(path, None)
        else:
            effects.did_not_change(path)
        remove(held.staging, staged)
