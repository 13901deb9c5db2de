"""Finding other programs, and never one that the project at hand brought along."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from hindnote.core.places.project import lexical, project_trees
from hindnote.core.system.process import process_directory


def on_path(name: str) -> str | None:
    """Return the absolute path of a program on the ``PATH``; None when there is none.

    Relative folders of the ``PATH`` are left out: what they hold depends on the directory in
    which the search happens.
    """
    return _among(name, _folders())


def outside_project(name: str) -> str | None:
    """Return what ``on_path`` does, without the folders that lie in the current project."""
    return _among(name, [folder for folder in _folders() if not in_project(folder)])


def in_project(path: str | Path) -> bool:
    """Return whether a path lies in the project of the current directory, links resolved or not."""
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
