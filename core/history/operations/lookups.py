"""Look-ups: calls to our own reading tools, which a query leaves out.

An earlier search for a word contains that word in its arguments; such hits would crowd out the
original event. Writing notes does not count as a look-up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from hindnote.core.history.document import Event

READING = frozenset({"notes_list", "notes_read", "notes_search", "history_list", "history_read"})
"""The operations that only read; listed here, so that no operation has to be imported."""


class Lookups(Struct, frozen=True):
    """Recognizes look-ups in one session."""

    prefix: str = ""
    """Prefix of our tools' names in this host's records."""

    running: str | None = None
    """Id of the call that is being answered, which always counts as a look-up."""

    def includes(self, event: Event, call_id: str | None) -> bool:
        """Return whether an event is a look-up.

        A script counts when all of its nested calls are known and each is a look-up: with a record
        missing it may have done something else too.
        """
        if event.status is None:
            return False
        if self._asking(event, call_id):
            return True
        nested = event.nested
        if nested is not None and nested.names:
            return nested.complete and all(map(self._reads, nested.names))
        return event.tool is not None and self._reads(event.tool)

    def _asking(self, event: Event, call_id: str | None) -> bool:
        if self.running is None or call_id is None or event.status != "pending":
            return False
        # A nested call's id is the id of the script's call, a slash and a number.
        return self.running == call_id or self.running.startswith(f"{call_id}/")

    def _reads(self, tool: str) -> bool:
        return tool.startswith(self.prefix) and tool.removeprefix(self.prefix) in READING
