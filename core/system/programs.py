"""Find other programs, but never one inside the current project."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from hindnote.core.places.project import lexical, project_trees
from hindnote.core.system.process import process_directory


def on_path(name: str) -> str | None:
    """Return the absolute path of a program on the ``PATH``; None when it is not found.

    Relative folders of the ``PATH`` are skipped, since their meaning depends on the current
    directory.
    """
    return _among(name, _folders())


def outside_project(name: str) -> str | None:
    """Return the same as ``on_path``, skipping folders inside the current project."""
    return _among(name, [folder for folder in _folders() if not in_project(folder)])


def in_project(path: str | Path) -> bool:
    """Return whether a path is inside the current directory's project, links resolved or not."""
    try:
        trees = project_trees(process_directory())
        places = {lexical(Path(path)), Path(path).resolve()}
    except (OSError, RuntimeError, ValueError):
        return True
    return any(place.is_relative_to(tree) for place in places for tree in trees)


def _folders() -> list[str]:
    return list(filter(os.path.isabs, os.environ.get("PATH", os.defpath).split(os.pathsep)))


def _among(name: str, folders: list[str]) -> str | None:
    return shutil.which(name, path=os.pathsep.join(folders)) if folders else None
