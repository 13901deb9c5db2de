"""One journaled move of a todo: publish the new file, then retire the old one.

Each step is durable before the next one starts. No file is removed by name alone: it is first
moved into staging, and if its hash shows that it is not ours, it is moved back.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from hindnote.core.project.effects import EffectLog
from hindnote.core.project.outcome import Declined
from hindnote.core.project.state import OTHER, hash_of, remove, replace, seen, write_new
from hindnote.core.project.todos.journal import STAGING, Journal, Stage, shown, written
from hindnote.core.project.workspace import Root


@dataclass(slots=True)
class Move:
    """A move in progress, with open handles of its folders."""

    journal: Journal
    root: Root
    folder: int
    """The todos root."""

    journals: int
    staging: int
    effects: EffectLog

    @property
    def source(self) -> str:
        """The source's path in answers."""
        return self.root.shown(self.journal.source)

    @property
    def target(self) -> str:
        """The target's path in answers."""
        return self.root.shown(self.journal.target)

    def record(self, stage: Stage) -> None:
        """Write the journal with the stage that was reached."""
        self.journal = self.journal.model_copy(update={"stage": stage})
        replace(self.journals, self.journal.file, written(self.journal))
        self.effects.reached(stage)

    def publish(self, content: bytes, mode: int) -> None:
        """Stage the new content, write the journal, and put the target in place.

        Raises:
            Declined: ``already_exists`` or ``changed``.
        """
        write_new(self.staging, self.journal.staged_target, content, mode)
        self.record("prepared")
        self.effects.may_change(self.target)
        place(self.staging, self.journal.staged_target, self.folder, self.journal.target)
        now = seen(self.folder, self.journal.target)
        self._note(self.journal.target, now)
        if now != self.journal.target_hash:
            raise self._changed(self.target, self.journal.target_hash, now)
        self.record("target_written")

    def retire(self) -> None:
        """Remove the source, after verifying its content.

        Raises:
            Declined: ``changed`` when somebody edited it meanwhile; then it is kept.
        """
        journal = self.journal
        now = seen(self.folder, journal.source)
        if now == journal.source_hash:
            self.effects.may_change(self.source)
            now = self._take(journal.source, journal.taken_source, journal.source_hash)
        if now != journal.source_hash:
            self.effects.did_not_change(self.source)
            raise self._changed(self.source, journal.source_hash, now)
        self.effects.changed(self.source, None)
        self.record("source_removed")

    def finish(self) -> None:
        """Remove the move's files in staging, and at last its journal."""
        for name in (
            self.journal.taken_source,
            self.journal.taken_target,
            self.journal.staged_target,
        ):
            remove(self.staging, name)
        remove(self.journals, self.journal.file)

    def roll_back(self) -> None:
        """Keep the source, and remove the target if it is ours.

        Raises:
            Declined: ``changed`` when a file in staging cannot be moved back to its name.
        """
        journal = self.journal
        if self.restore(journal.taken_source, journal.source):
            self._note(journal.source, seen(self.folder, journal.source))
        if seen(self.folder, journal.target) == journal.target_hash:
            self.effects.may_change(self.target)
            self._take(journal.target, journal.taken_target, journal.target_hash)
            self._note(journal.target, seen(self.folder, journal.target))
        else:
            self.effects.did_not_change(self.target)
        self.finish()

    def restore(self, taken: str, name: str) -> bool:
        """Move a file from staging back to its name; return whether there was one.

        Raises:
            Declined: ``changed`` when the name belongs to something else.
        """
        held = hash_of(self.staging, taken)
        if held is None:
            return False
        if seen(self.folder, name) != held:
            try:
                place(self.staging, taken, self.folder, name)
            except Declined as declined:
                kept = shown(taken, STAGING)
                raise Declined(
                    "changed", f"{declined.message}; what stood there before is kept at {kept}"
                ) from declined
        remove(self.staging, taken)
        return True

    def restore_foreign(self) -> None:
        """Move back files in staging that others edited, before anything is decided."""
        for taken, name, ours in (
            (self.journal.taken_source, self.journal.source, self.journal.source_hash),
            (self.journal.taken_target, self.journal.target, self.journal.target_hash),
        ):
            held = hash_of(self.staging, taken)
            if held is not None and held != ours and self.restore(taken, name):
                self.effects.changed(self.root.shown(name), held)

    def _take(self, name: str, taken: str, expected: str) -> str | None:
        """Move a file into staging and return its hash; one that is not ours is moved back."""
        # Renaming to another link of the same file does nothing and reports success. A file that
        # an interrupted restore left there is a copy of the one that is moved now.
        remove(self.staging, taken)
        os.rename(name, taken, src_dir_fd=self.folder, dst_dir_fd=self.staging)
        os.fsync(self.staging)
        os.fsync(self.folder)
        now = hash_of(self.staging, taken)
        if now != expected:
            self.restore(taken, name)
        return now

    def _note(self, name: str, now: str | None) -> None:
        """Record an observed change; without a content hash it stays a possible one."""
        if now == OTHER:
            self.effects.may_change(self.root.shown(name))
        else:
            self.effects.changed(self.root.shown(name), now)

    def _changed(self, path: str, expected: str, now: str | None) -> Declined:
        actual = {} if now == OTHER else {"actual": now}
        return Declined(
            "changed",
            "somebody else changed the file during the transition; their edit stays, "
            "look at it and decide anew",
            path=path,
            expected=expected,
            **actual,
        )


def place(staging: int, staged: str, folder: int, name: str) -> None:
    """Link a staged file to its public name, if that is free.

    Raises:
        Declined: ``already_exists``.
    """
    try:
        os.link(staged, name, src_dir_fd=staging, dst_dir_fd=folder, follow_symlinks=False)
    except FileExistsError:
        raise Declined(
            "already_exists",
            f"{name} came to be there meanwhile and was left alone",
        ) from None
    os.fsync(folder)
