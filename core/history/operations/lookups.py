"""Look-ups: calls to our own reading tools, which a query leaves out.

Whoever searched for a word before has it in the arguments of that search; such
hits would crowd out the original. What was written to notes is no look-up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from hindnote.core.history.document import Event

READING = frozenset({"notes_list", "notes_read", "notes_search", "history_list", "history_read"})
"""The operations that only look; named here, as no operation is imported to tell."""


class Lookups(Struct, frozen=True):
    """Recognizes look-ups in one session's records."""

    prefix: str = ""
    """What stands before our tools' names in this host's records."""

    running: str | None = None
    """Id of the call that is being answered: it is asking, whatever it is."""

    def includes(self, event: Event, call_id: str | None) -> bool:
        """Return whether an event is a look-up.

        A script counts when its nested calls are known to the last one and each is
        a look-up: with a record missing it may have done something else as well.
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
