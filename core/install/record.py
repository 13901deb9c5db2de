"""The manifest of an installation: which files were written, and which of its claims count.

A manifest may lie in a folder that somebody else wrote, such as a repository's ``.pi``. So it is
a claim, and no proof: a name counts only when it is one that hindnote itself writes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

Digests = dict[str, list[str]]
"""By file, relative to the folder: the digests it may have; two while it is replaced."""

_SHOWN = 100
"""Characters of a refused name that a message shows."""


class ForgedError(ValueError):
    """A manifest claims something that no hindnote ever writes. The message says what."""


@dataclass(frozen=True)
class Record:
    """What the manifest tells of an installation."""

    files: Digests
    made: list[str]
    """The folder and those around it that were made for it, relative to it, from the inside out."""

    facts: dict[str, str]
    """What else the host wants to know of it."""

    def encoded(self) -> bytes:
        """Return the bytes of the manifest."""
        told = {**self.facts, "files": dict(sorted(self.files.items())), "made": self.made}
        return (json.dumps(told, indent=2, ensure_ascii=False) + "\n").encode()

    @classmethod
    def decoded(cls, data: bytes, names: re.Pattern[str], folders: Collection[str]) -> Record:
        """Return what a manifest tells.

        Args:
            data: The manifest's bytes.
            names: Matches the whole name of every file that any hindnote writes there.
            folders: What ``made`` may name.

        Raises:
            ForgedError: It names another file, or another folder.
            ValueError: It is no manifest.
        """
        try:
            told: dict[str, Any] = json.loads(data)
            files = {str(name): list(map(str, known)) for name, known in told.pop("files").items()}
            made = list(map(str, told.pop("made")))
            facts = {str(name): str(fact) for name, fact in told.items()}
        except (KeyError, TypeError, AttributeError, RecursionError) as error:
            raise ValueError("no manifest") from error
        for name in files:
            if not names.fullmatch(name):
                raise ForgedError(f"names the file {_shown(name)}, which hindnote does not write")
        for name in made:
            if name not in folders:
                raise ForgedError(f"names the folder {_shown(name)}, which hindnote does not make")
        return cls(files, made, facts)


def _shown(name: str) -> str:
    """Return a name for a message: quoted, its control characters escaped, not too long."""
    return ascii(name if len(name) <= _SHOWN else name[:_SHOWN] + "...")
