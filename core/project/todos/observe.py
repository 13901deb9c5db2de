"""Scan a todos root without changing anything, not even a lock file."""

from __future__ import annotations

import contextlib
import errno
import os

from hindnote.core.project.outcome import Declined
from hindnote.core.project.state import folder_lock
from hindnote.core.project.todos.journal import JOURNALS, is_journal, shown
from hindnote.core.project.todos.scan import Scan, scan
from hindnote.core.project.workspace import (
    STATE_DIRECTORY,
    Workspace,
    check_path,
    check_shown,
    contained,
    entries,
)

_NOT_A_FOLDER = frozenset({errno.ENOTDIR, errno.ELOOP})
"""Error numbers for opening a file or a link as a folder."""

_READER_SECONDS = 2.0


def observe(workspace: Workspace) -> Scan:
    """Return a scan of the todos root. Writes nothing, not even a lock file.

    Raises:
        Declined: ``root_missing`` or ``root_unreadable``.
    """
    with (
        contextlib.closing(TodosFolder(workspace)) as folder,
        # A reader that does not get the lock in time continues without it.
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


class TodosFolder:
    """An open todos root."""

    def __init__(self, workspace: Workspace, *, create: bool = False) -> None:
        root = workspace.todos
        try:
            self.handle = workspace.open(root.parts, create=create)
        except OSError as error:
            if create and error.errno not in _NOT_A_FOLDER:
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
            f"the todos root {root} does not exist; the first todo that is created makes it",
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
    """Return the file name for a path parameter, which must be directly in the todos root.

    The file itself is not resolved, so a link is seen as a link.

    Raises:
        Declined: ``outside_workspace``, ``invalid_path`` or ``path_too_long``.
    """
    check_path("path", path)
    folder, slash, name = path.rpartition("/")
    check_shown("path", name)
    if name in ("", ".", ".."):
        raise Declined("invalid_path", "path names no file; give one as project_todo_list shows it")
    parent = contained(workspace.path, workspace.path, "path", folder + slash or ".", told=path)
    if parent != workspace.path.joinpath(*workspace.todos.parts):
        raise Declined(
            "invalid_path",
            f"path is not directly in the todos root {workspace.todos.relative}; give one as "
            "project_todo_list shows it",
        )
    return name
