"""hindnote: a memory for coding agents that outlives their context window.

These are the names that the smallest host plugin needs; ``hindnote.hosting`` has all names that
the author of a host may use.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hindnote.core.errors import Refused
    from hindnote.core.plugins.models import Decoration, HostCall, HostIdentity, SessionEntry
    from hindnote.hookspecs import hookimpl

    __version__: str
    """The installed version, such as ``0.1.0``."""

__all__ = [
    "Decoration",
    "HostCall",
    "HostIdentity",
    "Refused",
    "SessionEntry",
    "__version__",
    "hookimpl",
]


def __getattr__(name: str) -> Any:
    """Import a public name on first use, so that a short process imports nothing else."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name == "__version__":
        value: Any = import_module("importlib.metadata").version("hindnote")
    else:
        value = getattr(import_module("hindnote.hosting"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List all public names, including those that are not imported yet."""
    return sorted({*globals(), *__all__})
