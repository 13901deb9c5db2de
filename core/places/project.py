"""Which project a directory belongs to, and the project's key."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from hindnote.core.fs.bounded import read_bounded
from hindnote.core.places.person import person_home
from hindnote.core.text.slug import slug

_POINTER_LIMIT = 64 * 1024
"""Maximum size in bytes of a ``.git`` file or a ``commondir``; each contains one path."""


def project_root(directory: Path) -> Path:
    """Return the root of the project that contains ``directory``, symbolic links resolved.

    The root is the nearest ancestor that contains ``.git``. If ``.git`` is a *file* whose target
    has a ``commondir``, the folder is a linked worktree, and the main repository's root is
    returned, so that worktrees share their notes. Without a ``commondir`` (a submodule) the folder
    is its own project. Without any ``.git`` the root is the directory itself.
    """
    resolved = directory.resolve()
    for folder in (resolved, *resolved.parents):
        marker = folder / ".git"
        if marker.is_dir():
            return folder
        if marker.is_file():
            return _main_root(marker) or folder
    return resolved


def _main_root(marker: Path) -> Path | None:
    """Return the main repository's root for the ``.git`` file of a linked worktree; else None."""
    try:
        line = _line(marker)
        if not line.startswith("gitdir:"):
            return None
        gitdir = (marker.parent / line.removeprefix("gitdir:").strip()).resolve()
        common = _line(gitdir / "commondir")
        repository = (gitdir / common).resolve()
    except (OSError, ValueError, RuntimeError):
        return None
    return repository.parent if repository.name == ".git" else repository


def _line(file: Path) -> str:
    return read_bounded(file, _POINTER_LIMIT).decode().strip()


def lexical(path: Path) -> Path:
    """Return a path made absolute and without ``..``, without resolving links."""
    return Path(os.path.normpath(path.absolute()))


def project_trees(directory: Path) -> list[Path]:
    """Return the folders whose content came with the project that contains ``directory``.

    They are the directory itself, each folder above it that contains ``.git``, and a linked
    worktree's main repository, all absolute, both with and without resolved links. A folder that
    contains the person's home directory is left out, since it is not a checked-out project.

    Raises:
        OSError: A folder cannot be examined.
    """
    found = {project_root(directory)}
    for start in (lexical(directory), directory.resolve()):
        found.add(start)
        found.update(folder for folder in start.parents if os.path.lexists(folder / ".git"))
    home = person_home()
    if home is not None:
        own = (home, home.resolve())
        found = {tree for tree in found if not any(one.is_relative_to(tree) for one in own)}
    return sorted(found)


def project_key(directory: Path) -> str:
    """Return ``<slug of the root's name>-<8 hex digits of sha256 of the root's path>``."""
    root = project_root(directory)
    digest = hashlib.sha256(str(root).encode("utf-8", "surrogateescape")).hexdigest()
    return f"{slug(root.name)}-{digest[:8]}"
