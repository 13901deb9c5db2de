"""Detect Python environments that will be deleted, so that no host is configured to use one.

Their paths were observed with uv 0.13.8 (``uvx``: ``<cache>/archive-v0/<id>``) and pipx 1.18.4
(``pipx run``: ``<cache>/pipx/<id>``; older versions: ``<home of pipx>/.cache/<id>``).
"""

from __future__ import annotations

import os
import re
from pathlib import Path

LASTING = "install hindnote with `uv tool install` or `pipx install`"
"""Advice: how to install it permanently."""

_UV = re.compile(r"/(?:archive|environments|builds)-v\d+/")
_PIPX = re.compile(r"/(?:\.cache|Caches)/pipx/|/pipx/\.cache/")
_TEMPORARY = ("/tmp", "/var/tmp")
"""Folders that systems empty by themselves, in addition to those that the environment names."""

_TEMPORARY_VARIABLES = ("TMPDIR", "TEMP", "TMP")
"""Variables that name such folders. Not from `tempfile`, which may return the current
directory."""


def vanishing(python: str) -> str | None:
    """Return a description of where a temporary Python is; None for a permanent one.

    Args:
        python: The absolute path of an interpreter.
    """
    path = Path(python).as_posix()
    cache = os.environ.get("UV_CACHE_DIR")
    if _UV.search(path) or (cache and _is_below(path, cache)):
        return "lies in uv's cache, where `uvx` and `uv run` keep it until the cache is cleaned"
    if _PIPX.search(path):
        return "lies in pipx's cache, where `pipx run` keeps it for some days"
    if any(_is_below(path, folder) for folder in temporary_folders()):
        return "lies in a folder for temporary files, which the system empties"
    return None


def temporary_folders() -> list[str]:
    """Return the folders for temporary files, of the system and of the environment."""
    named = [os.environ.get(variable, "") for variable in _TEMPORARY_VARIABLES]
    # A root directory would match every path.
    return [*_TEMPORARY, *(folder for folder in named if Path(folder).name)]


def _is_below(path: str, folder: str) -> bool:
    # The folder may be a link, as /tmp is on macOS.
    return any(Path(path).is_relative_to(one) for one in (folder, os.path.realpath(folder)))
