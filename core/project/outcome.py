"""What a handler of a project tool ends with: an observation, or a declined call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hindnote.core.project.contract.envelope import FailureCode


@dataclass(frozen=True, slots=True)
class Observation:
    """A completed call: facts as the contract's data has them, not bounded yet."""

    data: Mapping[str, Any]
    totals: Mapping[str, int] = field(default_factory=dict)
    """How many items of a collection there are, where ``data`` does not hold all of them."""

    holders: Mapping[str, str] = field(default_factory=dict)
    """Path of a document that holds an identity, for identities that cannot be delivered."""


class Declined(Exception):
    """Raised where a project tool fails natively; delivery makes an envelope of it.

    Args:
        code: One of the contract's closed list.
        message: What happened and what to do, in one short line.
        facts: Further fields of the contract's ``ErrorInfo``.
    """

    def __init__(self, code: FailureCode, message: str, **facts: Any) -> None:
        super().__init__(f"{code}: {message}")
        self.code: FailureCode = code
        self.message = message
        self.facts = facts


Outcome = Observation | Declined
