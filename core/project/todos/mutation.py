"""The setup of every mutation: the root lock, open folders, and a check for conflicts."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from hindnote.core.fs import atomic
from hindnote.core.project.effects import EffectLog
from hindnote.core.project.outcome import Declined
from hindnote.core.project.state import (
    LITTER_SECONDS,
    changing_folder,
    open_state,
    root_lock,
    state_folder,
)
from hindnote.core.project.todos.journal import JOURNALS, STAGING
from hindnote.core.project.todos.observe import TodosFolder
from hindnote.core.project.todos.recovery import recover, staging_for
from hindnote.core.project.todos.scan import Scan, scan
from hindnote.core.project.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Held:
    """Open handles for a mutation, which has the root lock."""

    workspace: Workspace
    folder: int
    journals: int
    staging: int
    effects: EffectLog

    def scan(self) -> Scan:
        """Return a scan of the todos root, if nothing in it blocks a mutation.

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


@contextmanager
def mutation(
    workspace: Workspace, effects: EffectLog, *, create_root: bool = False
) -> Iterator[Held]:
    """Lock and open everything for a mutation, after recovering interrupted transitions.

    Args:
        workspace: The workspace.
        effects: The effect log of the call.
        create_root: Whether to create a missing todos root.

    Raises:
        Declined: ``root_missing``, ``root_unreadable``, ``unsafe_state``, ``locked`` or
            ``recovery_blocked``.
    """
    if not create_root:
        # Without a root there is nothing to lock, and no state folder must be created.
        TodosFolder(workspace).close()
    with ExitStack() as stack:
        effects.may_touch_cache()
        state = open_state(workspace)
        stack.callback(os.close, state)
        stack.enter_context(root_lock(state, effects))
        effects.reached("locked")
        atomic.sweep(state, older_than=LITTER_SECONDS)
        journals = stack.enter_context(state_folder(state, JOURNALS))
        staging = stack.enter_context(state_folder(state, STAGING))
        recover(workspace, journals, staging, effects)
        folder = stack.enter_context(contextlib.closing(TodosFolder(workspace, create=create_root)))
        stack.enter_context(changing_folder(folder.handle))
        staging = stack.enter_context(staging_for(folder.handle, staging))
        yield Held(workspace, folder.handle, journals, staging, effects)
