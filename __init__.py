"""hindnote: a memory for coding agents that outlives their context window.

These names are what a host plugin needs. Everything else is reached through
its module: operations in ``hindnote.core.tools.registry``, one call from a host in
``hindnote.core.call``, the loaded plugins in ``hindnote.core.plugins``.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hindnote.core.plugins.models import Decoration, HostCall, HostIdentity, SessionEntry
    from hindnote.core.tools.outcome import Refused
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
    "Decoration": "hindnote.core.plugins.models",
    "HostCall": "hindnote.core.plugins.models",
    "HostIdentity": "hindnote.core.plugins.models",
    "Refused": "hindnote.core.tools.outcome",
    "SessionEntry": "hindnote.core.plugins.models",
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
