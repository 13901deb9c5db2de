"""Which project a directory belongs to, and the project's key."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

from hindnote.core.fs.bounded import read_bounded
from hindnote.core.places.person import person_home
from hindnote.core.text.slug import slug

if TYPE_CHECKING:
    from hindnote.core.places.database_home import DatabaseHome

_POINTER_LIMIT = 64 * 1024
"""Maximum size in bytes of a ``.git`` file or a ``commondir``; each contains one path."""


def project_root(directory: Path) -> Path:
    """Return the root of the project that contains ``directory``, symbolic links resolved.

    The root is the nearest ancestor that contains ``.git``. If ``.git`` is a *file* whose target
    has a ``commondir``, the folder is a linked worktree, and the main repository's root is
    returned, so that worktrees share their notes. Without a ``commondir`` (a submodule) the folder
    is its own project. Without any ``.git`` the root is the directory itself.
    """
    return _project(directory)[0]


def _project(directory: Path) -> tuple[Path, Path | None]:
    """Return the root of a directory's project, and its repository's own folder, if it has one."""
    resolved = directory.resolve()
    for folder in (resolved, *resolved.parents):
        marker = folder / ".git"
        if marker.is_dir():
            return folder, marker
        if marker.is_file():
            return _pointed(marker)
    return resolved, None


def _pointed(marker: Path) -> tuple[Path, Path | None]:
    """Return the root and the repository to which a ``.git`` file points."""
    try:
        line = _line(marker)
        if not line.startswith("gitdir:"):
            return marker.parent, None
        gitdir = (marker.parent / line.removeprefix("gitdir:").strip()).resolve()
    except (OSError, ValueError, RuntimeError):
        return marker.parent, None
    try:
        repository = (gitdir / _line(gitdir / "commondir")).resolve()
    except (OSError, ValueError, RuntimeError):
        return marker.parent, gitdir
    return repository.parent if repository.name == ".git" else repository, repository


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


def key_in(home: Path | DatabaseHome, directory: Path) -> str:
    """Return the key that a directory's project has in a notes home.

    In a database, which many machines share, it comes from the repository's remote (see
    ``remote``), or else from the path as in a folder.
    """
    return (None if isinstance(home, Path) else shared_key(directory)) or project_key(directory)


def shared_key(directory: Path) -> str | None:
    """Return the key of a directory's project in a home that many machines share.

    It comes from the repository's remote (see ``remote``). None when there is no remote.
    """
    # Imported here: a folder home, which most are, needs no remote.
    from hindnote.core.places.remote import remote_key

    repository = _project(directory)[1]
    return None if repository is None else remote_key(repository)
