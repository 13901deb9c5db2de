"""Complete what a crash interrupted, before a mutation does anything else."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from hindnote.core.fs.handles import closing, same_mount
from hindnote.core.project.effects import EffectLog, ReceiptLog
from hindnote.core.project.outcome import Declined
from hindnote.core.project.state import (
    OTHER,
    changing_folder,
    digest,
    hash_of,
    open_state_of,
    read_regular,
    remove,
    seen,
    state_folder,
)
from hindnote.core.project.todos.journal import (
    JOURNALS,
    STAGING,
    Action,
    Journal,
    decide,
    is_journal,
    read_journal,
    shown,
    source_taken_by,
)
from hindnote.core.project.todos.moves import Move
from hindnote.core.project.workspace import Root, Workspace, entries

_LEFT_OVER = re.compile(r"[0-9a-f]{32}\.(?:create|target|json\.tmp)")


def recover(workspace: Workspace, journals: int, staging: int, effects: EffectLog) -> None:
    """Complete or roll back every interrupted transition. Requires the root lock.

    Raises:
        Declined: ``recovery_blocked`` when a journal is damaged or of another version, when
            leftover files cannot be removed, or when only a person can decide; ``locked`` when
            another workspace is using a journal's root. Earlier journals are recovered by then.
    """
    for name in [entry.name for entry in entries(journals)]:
        if is_journal(name):
            _recover_one(workspace, journals, staging, name, effects)
        elif _LEFT_OVER.fullmatch(name):
            _clean(journals, JOURNALS, name)
        elif not name.startswith("."):
            raise _foreign(name, "is no journal of this version", staging)
    _clean_staging(staging)


@contextmanager
def staging_for(folder: int, staging: int) -> Iterator[int]:
    """Return the staging folder for files that are moved into or out of a todos root.

    It is the workspace's, unless the root is a separate mount: files cannot be renamed between
    mounts, so such a root has its own ``.hindnote`` folder with staging.

    Raises:
        Declined: ``unsafe_state`` or ``recovery_blocked``.
    """
    if same_mount(folder, staging):
        yield staging
        return
    with closing(open_state_of(folder)) as state, state_folder(state, STAGING) as own:
        _clean_staging(own)
        yield own


def _clean_staging(staging: int) -> None:
    for name in [entry.name for entry in entries(staging)]:
        # A source in staging is never removed without its journal.
        if _LEFT_OVER.fullmatch(name):
            _clean(staging, STAGING, name)


def _clean(handle: int, folder: str, name: str) -> None:
    try:
        remove(handle, name)
    except OSError as error:
        path = shown(name, folder)
        raise Declined(
            "recovery_blocked",
            f"{path} cannot be removed ({error.strerror}); nothing was changed. Remove it",
            path=path,
        ) from error


def _recover_one(
    workspace: Workspace, journals: int, staging: int, name: str, effects: EffectLog
) -> None:
    try:
        content = read_regular(journals, name)
    except OSError as error:
        raise _foreign(name, f"cannot be read ({error.strerror})", staging) from error
    journal = None if content is None else read_journal(name, content)
    if content is None or journal is None:
        raise _foreign(name, "is damaged, or no journal of this version", staging)
    root = Root("todos", tuple(journal.root), given=True)
    receipt = ReceiptLog(
        shown(name),
        digest(content),
        (root.shown(journal.source), journal.source_hash),
        (root.shown(journal.target), journal.target_hash),
    )
    effects.recoveries_started += 1
    effects.receipts.append(receipt)
    effects.reached("recovery")
    try:
        with ExitStack() as stack:
            folder = workspace.open(root.parts)
            stack.callback(os.close, folder)
            stack.enter_context(changing_folder(folder))
            staging = stack.enter_context(staging_for(folder, staging))
            _settle(Move(journal, root, folder, journals, staging, effects), receipt)
    except (OSError, Declined) as error:
        receipt.state = "failed"
        raise _blocked(receipt, error) from error
    receipt.state = "completed"
    effects.recoveries_completed += 1
    effects.reached("recovered")


def _settle(move: Move, receipt: ReceiptLog) -> None:
    move.restore_foreign()
    journal = move.journal
    _observe(move, receipt)
    receipt.action = _action(move, receipt)
    if receipt.action == "resume":
        move.retire()
        move.finish()
    elif receipt.action == "rollback":
        with move.effects.rolling_back():
            move.roll_back()
    elif receipt.action == "cleanup":
        move.finish()
    else:
        raise Declined(
            "changed",
            f"both {journal.source} and {journal.target} were edited since; keep one, remove "
            "the other",
        )
    _observe(move, receipt)


def _observe(move: Move, receipt: ReceiptLog) -> None:
    for side, name in (("source", move.journal.source), ("target", move.journal.target)):
        now = seen(move.folder, name)
        receipt.current.pop(side, None)
        if now != OTHER:
            receipt.current[side] = now


def _action(move: Move, receipt: ReceiptLog) -> Action:
    journal: Journal = move.journal
    taken = hash_of(move.staging, journal.taken_source) == journal.source_hash
    source, target = (receipt.current.get(side, OTHER) for side in ("source", "target"))
    return decide(journal, source, target, taken=taken)


def _foreign(name: str, why: str, staging: int) -> Declined:
    told = "nothing was changed. Look at it, then move it away"
    taken = source_taken_by(name)
    if any(entry.name == taken for entry in entries(staging)):
        place = shown(taken, STAGING)
        told = f"what it moved may be at {place}; look, then move the journal away"
    return Declined("recovery_blocked", f"{shown(name)} {why}; {told}", path=shown(name))


def _blocked(receipt: ReceiptLog, error: OSError | Declined) -> Declined:
    if isinstance(error, Declined) and error.code == "locked":
        return error
    if isinstance(error, Declined):
        reason = error.message
    else:
        reason = (
            f"{error.filename}: {error.strerror}. Put that right and try again, or move "
            f"{receipt.journal} away"
        )
    return Declined(
        "recovery_blocked",
        f"an interrupted transition could not be finished: {reason}",
        path=receipt.journal,
    )
