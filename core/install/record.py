"""Read and write the manifest of an installation, and reject invalid claims in it.

A manifest may be in a folder that somebody else wrote, such as a repository's ``.pi``. So it is
only a claim: a name is accepted only if hindnote itself writes such a file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

Digests = dict[str, list[str]]
"""By file, relative to the folder: the digests it may have; two while it is being replaced."""

_SHOWN = 100
"""Maximum length of a rejected name in a message, in characters."""


class ForgedError(ValueError):
    """A manifest claims something that no version of hindnote writes. The message says what."""


@dataclass(frozen=True)
class Record:
    """The content of a manifest."""

    files: Digests
    made: list[str]
    """The folders that were created, relative to the installed one, innermost first."""

    facts: dict[str, str]
    """Further fields that the host stores."""

    def encoded(self) -> bytes:
        """Return the bytes of the manifest."""
        told = {**self.facts, "files": dict(sorted(self.files.items())), "made": self.made}
        return (json.dumps(told, indent=2, ensure_ascii=False) + "\n").encode()

    @classmethod
    def decoded(cls, data: bytes, names: re.Pattern[str], folders: Collection[str]) -> Record:
        """Return the parsed manifest.

        Args:
            data: The manifest's bytes.
            names: Matches the whole name of every file that any version of hindnote writes there.
            folders: The folders that ``made`` may name.

        Raises:
            ForgedError: It names any other file or folder.
            ValueError: It is not a manifest.
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
    """Return a name for a message: quoted, escaped and shortened."""
    return ascii(name if len(name) <= _SHOWN else name[:_SHOWN] + "...")
