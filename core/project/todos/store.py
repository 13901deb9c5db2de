"""The todo tools' work: looking, allocating, creating and moving, under one root lock."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from hindnote.core.project.contract.todos import TodoPriority, TodoStatus
from hindnote.core.project.contract_v1 import MAX_ID_DIGITS
from hindnote.core.project.effects import EffectLog
from hindnote.core.project.markdown import parse_markdown
from hindnote.core.project.outcome import Declined
from hindnote.core.project.roots import STATE_DIRECTORY, Workspace, check_path, contained, entries
from hindnote.core.project.state import (
    digest,
    folder_lock,
    open_state,
    remove,
    root_lock,
    seen,
    state_folder,
    write_new,
)
from hindnote.core.project.todos.content import new_content, with_status
from hindnote.core.project.todos.journal import (
    JOURNALS,
    STAGING,
    Journal,
    is_journal,
    new_id,
    shown,
)
from hindnote.core.project.todos.moves import Move, place
from hindnote.core.project.todos.names import TodoName, kebab, parse_name, render_id
from hindnote.core.project.todos.recovery import FOLDER_LOCK_SECONDS, recover
from hindnote.core.project.todos.scan import Found, Scan, identity, scan

NOT_A_FOLDER = frozenset({errno.ENOTDIR, errno.ELOOP})
"""Error numbers of opening a file or a link as a folder."""

_READER_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Held:
    """Open handles of a mutation that holds the root lock."""

    workspace: Workspace
    folder: int
    journals: int
    staging: int
    effects: EffectLog

    def scan(self) -> Scan:
        """Return what the todos root holds, when nothing in it blocks a mutation.

        Raises:
            Declined: ``todo_conflict`` with every blocking issue.
        """
        found = scan(self.workspace.todos, self.folder)
        blocking = found.blocking()
        if blocking:
            raise Declined(
                "todo_conflict",
                f"{len(blocking)} conflicts in {found.root.relative} block every change; a person "
                "must resolve them, nothing is repaired",
                issues=blocking,
            )
        return found


# -- looking ---------------------------------------------------------------------


def observe(workspace: Workspace) -> Scan:
    """Return what the todos root holds. Writes nothing, not even a lock.

    Raises:
        Declined: ``root_missing`` or ``root_unreadable``.
    """
    with (
        contextlib.closing(_Folder(workspace)) as folder,
        # A reader who cannot get the lock in time looks all the same.
        folder_lock(folder.handle, exclusive=False, seconds=_READER_SECONDS),
    ):
        found = _scanned(workspace, folder.handle)
    for name in _pending(workspace):
        found.issues.append(
            {
                "code": "interrupted_transition",
                "blocking": False,
                "message": "a transition was interrupted; the next change finishes or undoes it",
                "path": shown(name),
            }
        )
    return found


class _Folder:
    """An open todos root."""

    def __init__(self, workspace: Workspace, *, create: bool = False) -> None:
        root = workspace.todos
        try:
            self.handle = workspace.open(root.parts, create=create)
        except OSError as error:
            if create and error.errno not in NOT_A_FOLDER:
                raise
            raise _unusable(workspace, error) from error

    def close(self) -> None:
        """Close the handle."""
        os.close(self.handle)


def _unusable(workspace: Workspace, error: OSError) -> Declined:
    root = workspace.todos.relative
    if isinstance(error, FileNotFoundError):
        return Declined(
            "root_missing",
            f"the todos root {root} does not exist; project_todo_create makes it",
            root={"path": root, "availability": "missing"},
        )
    return Declined(
        "root_unreadable",
        f"the todos root {root} cannot be read: {error.strerror}",
        root={"path": root, "availability": "unknown"},
    )


def _scanned(workspace: Workspace, folder: int) -> Scan:
    try:
        return scan(workspace.todos, folder)
    except OSError as error:
        raise _unusable(workspace, error) from error


def _pending(workspace: Workspace) -> list[str]:
    try:
        handle = workspace.open((STATE_DIRECTORY, JOURNALS))
    except OSError:
        return []
    try:
        return [entry.name for entry in entries(handle) if is_journal(entry.name)]
    finally:
        os.close(handle)


def file_name(workspace: Workspace, path: str) -> str:
    """Return the name of the file that a path parameter means: one directly in the todos root.

    The file itself is not resolved, so a link is seen as the link that it is.

    Raises:
        Declined: ``outside_workspace``, ``invalid_path`` or ``path_too_long``.
    """
    check_path("path", path)
    folder, slash, name = path.rpartition("/")
    if name in ("", ".", ".."):
        raise Declined("invalid_path", "path names no file; give one as project_todo_list shows it")
    parent = contained(workspace.path, workspace.path, "path", folder + slash or ".")
    if parent != workspace.path.joinpath(*workspace.todos.parts):
        raise Declined(
            "invalid_path",
            f"path is not directly in the todos root {workspace.todos.relative}; give one as "
            "project_todo_list shows it",
        )
    return name


# -- changing --------------------------------------------------------------------


@contextmanager
def mutation(
    workspace: Workspace, effects: EffectLog, *, create_root: bool = False
) -> Iterator[Held]:
    """Hold everything that a mutation needs, interrupted transitions recovered.

    Args:
        workspace: Where to work.
        effects: Log of the call.
        create_root: Whether to make a missing todos root.

    Raises:
        Declined: ``root_missing``, ``root_unreadable``, ``unsafe_state``, ``locked`` or
            ``recovery_blocked``.
    """
    if not create_root:
        # Without a root there is nothing to lock, and no state is to be made.
        _Folder(workspace).close()
    with ExitStack() as stack:
        effects.may_touch_cache()
        state = open_state(workspace)
        stack.callback(os.close, state)
        stack.enter_context(root_lock(workspace, state, effects))
        effects.reached("locked")
        journals = stack.enter_context(state_folder(state, JOURNALS))
        staging = stack.enter_context(state_folder(state, STAGING))
        recover(workspace, journals, staging, effects)
        folder = stack.enter_context(contextlib.closing(_Folder(workspace, create=create_root)))
        held = stack.enter_context(
            folder_lock(folder.handle, exclusive=True, seconds=FOLDER_LOCK_SECONDS)
        )
        if not held:
            raise Declined(
                "locked", "another workspace is busy in the same todos root; try again later"
            )
        yield Held(workspace, folder.handle, journals, staging, effects)


def allocate(workspace: Workspace, effects: EffectLog) -> dict[str, Any]:
    """Return the next id, reserving nothing."""
    with mutation(workspace, effects) as held:
        found = held.scan()
        number = _next_id(found)
        effects.reached("allocated")
        return {
            "id": number,
            "rendered_id": render_id(number),
            "directory_hash": found.directory_hash,
            "reserved": False,
        }


def _next_id(found: Scan) -> int:
    number = found.next_id()
    if len(str(number)) > MAX_ID_DIGITS:
        raise Declined(
            "id_exhausted", f"the highest id in use leaves none of {MAX_ID_DIGITS} digits above it"
        )
    return number


@dataclass(frozen=True, slots=True)
class NewTodo:
    """What a new todo is to hold."""

    title: str
    priority: TodoPriority
    status: TodoStatus
    body: str
    extra: Mapping[str, Any]
    """Further frontmatter."""


def create(
    workspace: Workspace, effects: EffectLog, new: NewTodo, expected_directory_hash: str | None
) -> dict[str, Any]:
    """Make a todo under the next id and return its identity."""
    with mutation(workspace, effects, create_root=True) as held:
        found = held.scan()
        if expected_directory_hash not in (None, found.directory_hash):
            raise Declined(
                "stale_directory",
                "the todos root changed since expected_directory_hash was taken; look again",
                expected=expected_directory_hash,
                actual=found.directory_hash,
            )
        name = TodoName(render_id(_next_id(found)), new.status, new.priority, kebab(new.title))
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
    effects.rollback = "failed"
    with contextlib.suppress(OSError):
        if seen(held.folder, name) == expected:
            effects.changed(path, expected)
            os.unlink(name, dir_fd=held.folder)
            effects.changed(path, None)
        else:
            effects.did_not_change(path)
        remove(held.staging, staged)
        effects.rollback = "completed"


def transition(
    workspace: Workspace, effects: EffectLog, name: str, to_status: TodoStatus, expected: str
) -> dict[str, Any]:
    """Move a todo to another status and return its new identity and old path."""
    with mutation(workspace, effects) as held:
        entry = _transitionable(held.scan(), name, to_status, expected)
        assert entry.canonical is not None and entry.markdown is not None
        content = with_status(entry.markdown, to_status)
        target = entry.canonical.moved(to_status)
        journal = Journal(
            id=new_id(),
            root=list(workspace.todos.parts),
            source=name,
            source_hash=expected,
            target=target.file,
            target_hash=digest(content),
            stage="prepared",
        )
        root = workspace.todos
        move = Move(journal, root, held.folder, held.journals, held.staging, effects)
        _carry_out(move, content)
        moved = Found(target.file, target, digest(content), None)
        return {"todo": identity(root, moved), "previous_path": root.shown(name)}


def _transitionable(found: Scan, name: str, to_status: TodoStatus, expected: str) -> Found:
    entry, path = found.get(name), found.root.shown(name)
    if entry is None:
        raise _not_found(found, name)
    issues = found.issues_of(name)
    if issues or entry.canonical is None or entry.hash is None:
        raise Declined(
            "not_transitionable", "this todo is not valid; mend it first", path=path, issues=issues
        )
    if entry.hash != expected:
        raise Declined(
            "stale_content",
            "the todo changed since expected_content_hash was taken; read it again",
            path=path,
            expected=expected,
            actual=entry.hash,
        )
    if entry.canonical.status == to_status:
        raise Declined("nothing_to_do", f"the todo is {to_status} already", path=path)
    return entry


def _not_found(found: Scan, name: str) -> Declined:
    asked = parse_name(name)
    now = [
        entry.name
        for entry in found.found
        if asked and entry.canonical and entry.canonical.id == asked.id
    ]
    hint = f"; todo {asked.rendered_id} is now {now[0]}" if asked and now else ""
    return Declined("not_found", f"there is no such todo in {found.root.relative}{hint}"[:240])


def _carry_out(move: Move, content: bytes) -> None:
    effects = move.effects
    try:
        mode = os.stat(move.journal.source, dir_fd=move.folder, follow_symlinks=False).st_mode
        move.publish(content, stat.S_IMODE(mode))
        move.retire()
    except (OSError, Declined):
        effects.rollback = "failed"
        with contextlib.suppress(OSError, Declined):
            move.restore_foreign()
            move.roll_back()
            effects.rollback = "completed"
        raise
    # The todo has moved. What could not be cleaned up, the next mutation cleans.
    with contextlib.suppress(OSError):
        move.finish()
        effects.reached("completed")
