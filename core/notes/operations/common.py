"""What the operations on notes share: a parameter, refusal codes, identity."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hindnote.core.operation import Params

if TYPE_CHECKING:
    from hindnote.core.notes.address import Address, Homes
    from hindnote.core.outcome import RefusalCode

ADDRESSED: frozenset[RefusalCode] = frozenset(
    {
        "invalid_address",
        "invalid_cwd",
        "io_error",
        "no_current_session",
        "not_text",
        "outside_home",
        "too_large",
    }
)
"""Codes with which an operation on one note may refuse."""

CHANGING: frozenset[RefusalCode] = ADDRESSED | {
    "address_collision",
    "changed",
    "invalid_frontmatter",
    "locked",
    "read_only_home",
}
"""Codes with which an operation may refuse that changes it."""


class InProject(Params):
    """The parameter that all five operations take."""

    cwd: str | None = None
    """Directory that decides @project for this call."""


def where(homes: Homes, address: Address) -> dict[str, str]:
    """Return the identity fields of a result about one note."""
    if address.home.kind == "project":
        return {"address": str(address), "project_key": homes.project_key}
    return {"address": str(address)}
