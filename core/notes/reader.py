"""The notes as a call sees them that only reads."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Self

from hindnote.core.errors import Refused
from hindnote.core.notes import files
from hindnote.core.notes.address import Address, Homes
from hindnote.core.notes.notebooks import notebook_folder
from hindnote.core.notes.stored import Stored, existing
from hindnote.core.notes.tree import Tree

if TYPE_CHECKING:
    from hindnote.core.plugins.models import Identity
    from hindnote.core.tools.operation import BoundCall


class Reader:
    """The notes that one identity sees in one project.

    Args:
        identity: Who asks, and the notes home.
        project_key: Key of the project that the call's directory lies in, if it exists.
    """

    def __init__(self, identity: Identity, project_key: str | None) -> None:
        self.tree = Tree(identity.home)
        self.homes = Homes(
            identity, project_key, partial(notebook_folder, self.tree, identity.host)
        )

    @classmethod
    def of(cls, bound: BoundCall) -> Self:
        """Return the notes that a call sees."""
        return cls(bound.identity, bound.project_key)

    def read(self, address: Address) -> Stored:
        """Return a note, one that the session of a fork inherits included.

        Raises:
            Refused: ``not_found``, ``outside_home``, ``not_text``, ``too_large``, ``io_error``.
        """
        try:
            return self._own(address)
        except Refused as refused:
            if refused.code != "not_found":
                raise
            stored = self.inherited(address)
            if stored is None:
                raise
            return stored

    def inherited(self, address: Address) -> Stored | None:
        """Return what the session of a fork inherits under an address of its own, if anything."""
        if not self.homes.has_session or address.home != self.homes.session:
            return None
        for home in self.homes.inherited:
            try:
                stored = self._own(Address(home, address.path))
            except Refused as refused:
                if refused.code != "not_found":
                    raise
                continue
            if home.passes_on(stored.created):
                return stored
        return None

    def _own(self, address: Address) -> Stored:
        shown = str(address)
        with self.tree.reading(address.segments, shown) as place, files.refusing(shown):
            return existing(address, place)

    def count_read(self, stored: Stored) -> None:
        """Count one read of a note, beside the notes; its file stays as it is."""
        from hindnote.core.notes import read_counts

        read_counts.count(self.tree.home, stored.address.segments, stored.note.values)
