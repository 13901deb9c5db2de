"""What the operations on notes share: a parameter, refusal codes, parts of results and texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hindnote.core.tools.operation import Params

if TYPE_CHECKING:
    from hindnote.core.errors import RefusalCode
    from hindnote.core.notes.address import Address, Homes

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
"""Refusal codes of an operation that reads one note."""

LOOKING: frozenset[RefusalCode] = frozenset(
    {
        "invalid_cwd",
        "invalid_glob",
        "io_error",
        "no_current_session",
        "outside_home",
        "output_too_large",
    }
)
"""Refusal codes of an operation that lists or searches notes."""

CHANGING: frozenset[RefusalCode] = ADDRESSED | {
    "address_collision",
    "changed",
    "invalid_frontmatter",
    "locked",
    "read_only_home",
}
"""Refusal codes of an operation that changes a note."""


class InProject(Params):
    """Base of the parameters of all operations on notes."""

    cwd: str | None = None
    """Directory of @project."""


def where(homes: Homes, address: Address) -> dict[str, str]:
    """Return the identity fields of a result about one note."""
    if address.home.kind == "project" and homes.project_key is not None:
        return {"address": str(address), "project_key": homes.project_key}
    return {"address": str(address)}


def receipt(project_key: str | None, version: str) -> list[str]:
    """Return the facts at the end of a change's text: project and version."""
    project = [] if project_key is None else [f"project {project_key}"]
    return [*project, f"version {version}"]
