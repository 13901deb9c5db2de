"""Move a todo to another status."""

from __future__ import annotations

import contextlib
import os
import stat
from typing import Any

from hindnote.core.project.contract.todos import TodoStatus
from hindnote.core.project.effects import EffectLog
from hindnote.core.project.outcome import Declined
from hindnote.core.project.state import digest
from hindnote.core.project.todos.content import with_status
from hindnote.core.project.todos.journal import Journal, new_id
from hindnote.core.project.todos.moves import Move
from hindnote.core.project.todos.mutation import mutation
from hindnote.core.project.todos.names import parse_name
from hindnote.core.project.todos.scan import Found, Scan, identity
from hindnote.core.project.workspace import Workspace


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
            source=entry.name,
            source_hash=expected,
            target=target.file,
            target_hash=digest(content),
            stage="prepared",
        )
        root = workspace.todos
        move = Move(journal, root, held.folder, held.journals, held.staging, effects)
        _carry_out(move, content)
        moved = Found(target.file, target, digest(content), entry.markdown)
        return {"todo": identity(root, moved), "previous_path": root.shown(entry.name)}


def _transitionable(found: Scan, name: str, to_status: TodoStatus, expected: str) -> Found:
    entry, path = found.get(name), found.root.shown(name)
    if entry is None:
        raise _not_found(found, name)
    issues = found.issues_of(entry.name)
    if issues or entry.canonical is None or entry.hash is None:
        raise Declined(
            "not_transitionable",
            "this todo is not valid; correct it first",
            path=path,
            issues=issues,
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
        with contextlib.suppress(OSError, Declined), effects.rolling_back():
            move.restore_foreign()
            move.roll_back()
        raise
    # The todo has moved. The next mutation removes files that could not be removed.
    with contextlib.suppress(OSError):
        move.finish()
        effects.reached("completed")
