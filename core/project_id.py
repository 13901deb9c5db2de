"""Which project a directory belongs to, and the project's key."""

from __future__ import annotations

import hashlib
from pathlib import Path

from hindnote.core.text.slug import slug


def project_root(directory: Path) -> Path:
    """Return the root of the project that ``directory`` lies in, symlinks resolved.

    The nearest ancestor that holds ``.git``. A ``.git`` *file* whose folder has a
    ``commondir`` is a linked worktree and leads to the main repository's root, so
    that worktrees share their notes; without one (a submodule) the folder is a
    project of its own. No ``.git`` anywhere: the directory itself.
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
    """Return the main repository's root for a linked worktree's ``.git`` file."""
    try:
        line = marker.read_text("utf-8").strip()
        if not line.startswith("gitdir:"):
            return None
        gitdir = (marker.parent / line.removeprefix("gitdir:").strip()).resolve()
        common = (gitdir / "commondir").read_text("utf-8").strip()
        repository = (gitdir / common).resolve()
    except (OSError, ValueError, RuntimeError):
        return None
    return repository.parent if repository.name == ".git" else repository


def project_key(directory: Path) -> str:
    """Return ``<slug of the root's name>-<8 hex digits of sha256 of the root's path>``."""
    root = project_root(directory)
    digest = hashlib.sha256(str(root).encode("utf-8", "surrogateescape")).hexdigest()
    return f"{slug(root.name)}-{digest[:8]}"
