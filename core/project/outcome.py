"""The outcome of a project tool's handler: an observation, or a declined call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hindnote.core.project.contract.envelope import FailureCode


@dataclass(frozen=True, slots=True)
class Observation:
    """The facts of a completed call in the form of the contract's data, without limits applied."""

    data: Mapping[str, Any]
    totals: Mapping[str, int] = field(default_factory=dict)
    """Sizes of collections of which ``data`` does not contain all items."""

    holders: Mapping[str, str] = field(default_factory=dict)
    """Path of a document that contains an identity, for identities that cannot be returned."""


class Declined(Exception):
    """Raised when a project tool refuses or fails; converted to a failure envelope.

    Args:
        code: A code of the contract's closed list.
        message: What happened and what to do, in one short line.
        facts: Further fields of the contract's ``ErrorInfo``.
    """

    def __init__(self, code: FailureCode, message: str, **facts: Any) -> None:
        super().__init__(f"{code}: {message}")
        self.code: FailureCode = code
        self.message = message
        self.facts = facts


Outcome = Observation | Declined
