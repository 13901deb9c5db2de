"""The Pi coding agent as a host.

The closed outputs of the project tools and their numeric ceilings are exported from
here as well, for programs that consume them on Pi; see ``core.project.contract_v1``.
"""

from __future__ import annotations

from typing import Any

_CONTRACT_FUNCTIONS = frozenset({"clip_utf16", "output_adapter", "output_schema", "utf16_length"})


def __getattr__(name: str) -> Any:
    """Import a name of contract v1 when it is first asked for.

    Names of submodules come through here too and must not pay for the contract.
    """
    if name[:1].isupper() or name in _CONTRACT_FUNCTIONS:
        from hindnote.core.project import contract_v1

        if name in contract_v1.__all__:
            return getattr(contract_v1, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
