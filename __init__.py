"""hindnote: a memory for coding agents that outlives their context window.

These names are what a host plugin needs. Everything else is reached through
its module: operations in ``hindnote.core.registry``, one call from a host in
``hindnote.core.dispatch``, the loaded plugins in ``hindnote.core.plugins``.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hindnote.core.calls import Decoration, HostCall, HostIdentity, SessionEntry
    from hindnote.core.outcome import Refused
    from hindnote.hookspecs import hookimpl

__all__ = [
    "Decoration",
    "HostCall",
    "HostIdentity",
    "Refused",
    "SessionEntry",
    "hookimpl",
]

_HOMES = {
    "Decoration": "hindnote.core.calls",
    "HostCall": "hindnote.core.calls",
    "HostIdentity": "hindnote.core.calls",
    "Refused": "hindnote.core.outcome",
    "SessionEntry": "hindnote.core.calls",
    "hookimpl": "hindnote.hookspecs",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for: a host's cold start pays for no other."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Name the public names too that nobody asked for yet."""
    return sorted({*globals(), *__all__})
