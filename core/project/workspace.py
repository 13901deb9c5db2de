"""The workspace of a call and its roots, which must be inside the session's directory.

Everything is resolved and checked here, before any lock, read or write. The session's directory is
trusted. From there each folder is opened from its parent without following links, and the
workspace's handle is kept for the whole call. So replacing a folder with a link meanwhile, even
one above the workspace, has no effect.
"""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self

from hindnote.core.fs.handles import LINK_ERRORS, closing, open_below, open_root
from hindnote.core.project.contract.bounds import MAX_PATH_CHARS, utf16_length
from hindnote.core.project.outcome import Declined
from hindnote.core.text.messages import quote

if TYPE_CHECKING:
    from collections.abc import Iterator

STATE_DIRECTORY = ".hindnote"

Scope = Literal["docs", "todos"]


@dataclass(frozen=True, slots=True)
class Root:
    """A docs or todos root, which need not exist."""

    scope: Scope
    parts: tuple[str, ...]
    """Segments below the workspace; empty when the root is the workspace itself."""

    given: bool
    """Whether the call named it."""

    @property
    def relative(self) -> str:
        """The root's path in answers."""
        return "/".join(self.parts) or "."

    def shown(self, below: str) -> str:
        """Return the workspace-relative path of an entry below this root."""
        return "/".join((*self.parts, below))


@dataclass(frozen=True, slots=True)
class Workspace:
    """The workspace of one call; every root is inside the host session's directory."""

    handle: int
    """The workspace's folder; everything in it is opened through this handle."""

    path: Path
    """Its path when the call began; for messages and providers, never to open anything."""

    docs: Root
    todos: Root

    def open(self, parts: tuple[str, ...], *, create: bool = False) -> int:
        """Return a handle of a folder below the workspace, which the caller must close.

        Args:
            parts: The folder's segments below the workspace.
            create: Whether to create missing folders.

        Raises:
            OSError: It does not exist, is not a folder, or is reached through a link.
        """
        return open_below(self.handle, parts, make=create)

    def __enter__(self) -> Self:
        """Return the workspace."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the handle."""
        os.close(self.handle)


def locate(
    base_cwd: Path,
    workspace_root: str | None = None,
    docs_root: str | None = None,
    todos_root: str | None = None,
) -> Workspace:
    """Open the workspace for a call; use the result as a context manager.

    Args:
        base_cwd: The host session's directory, absolute and existing.
        workspace_root: Relative to ``base_cwd``; default: ``base_cwd`` itself.
        docs_root: Relative to the workspace; default ``docs``.
        todos_root: Relative to the workspace; default ``todos``.

    Raises:
        Declined: ``outside_workspace``, ``path_too_long``, ``invalid_path`` or
            ``root_missing`` (the workspace itself).
    """
    base = Path(os.path.realpath(base_cwd))
    path = base
    if workspace_root is not None:
        path = contained(base, base, "workspace_root", workspace_root)
    roots = {
        "docs": _root(path, "docs", docs_root),
        "todos": _root(path, "todos", todos_root),
    }
    try:
        with closing(open_root(base)) as trusted:
            handle = open_below(trusted, path.relative_to(base).parts)
    except OSError as error:
        raise _unusable_workspace(error) from error
    return Workspace(handle, path, **roots)


def _unusable_workspace(error: OSError) -> Declined:
    if error.errno == errno.ENAMETOOLONG:
        return Declined("path_too_long", "workspace_root is longer than a path may be")
    if error.errno in {errno.ENOENT, *LINK_ERRORS}:
        return Declined("root_missing", "workspace_root is no existing directory; name one")
    return Declined("root_unreadable", f"workspace_root cannot be opened: {error.strerror}")


def _root(workspace: Path, scope: Scope, given: str | None) -> Root:
    path = contained(workspace, workspace, f"{scope}_root", scope if given is None else given)
    parts = path.relative_to(workspace).parts
    if STATE_DIRECTORY in parts:
        raise Declined(
            "outside_workspace", f"{scope}_root lies in {STATE_DIRECTORY}, which is derived state"
        )
    return Root(scope, parts, given is not None)


def contained(within: Path, start: Path, name: str, given: str, *, told: str | None = None) -> Path:
    """Return the physical path of a path parameter, checked to be inside ``within``.

    Args:
        within: Physical directory that must contain it.
        start: Directory to which a relative path is relative.
        name: Name of the parameter, for messages.
        given: Its value, or the part of it to resolve.
        told: The whole value, if ``given`` is a part.

    Raises:
        Declined: ``outside_workspace``, ``path_too_long`` or ``invalid_path``.
    """
    check_path(name, given)
    try:
        # A dangling link resolves to its target's path, so it is detected as well.
        physical = Path(os.path.realpath(start / given))
    except (OSError, ValueError) as error:
        raise Declined("invalid_path", f"{name} cannot be resolved: {error}") from error
    if physical != within and within not in physical.parents:
        raise Declined(
            "outside_workspace",
            f"{name} {quote(given if told is None else told)} leads outside the directory that this session may use; "
            "nothing was read or changed",
        )
    check_shown(name, str(physical.relative_to(within)))
    return physical


def check_path(name: str, given: str) -> None:
    """Check the text of a path parameter.

    Raises:
        Declined: ``invalid_path``.
    """
    if not given or "\x00" in given:
        raise Declined("invalid_path", f"{name} is empty or holds a NUL; give a path or leave it")


def check_shown(name: str, path: str) -> None:
    """Check that answers can show the path of a parameter; the parameter as given is not limited.

    Raises:
        Declined: ``path_too_long``.
    """
    length = utf16_length(path)
    if length > MAX_PATH_CHARS:
        raise Declined(
            "path_too_long",
            f"{name} leads to a path of {length} characters, at most {MAX_PATH_CHARS} can be shown",
            limit=MAX_PATH_CHARS,
            size=length,
        )


def entries(handle: int) -> Iterator[os.DirEntry[str]]:
    """Yield the entries of an open folder, sorted by name."""
    with os.scandir(handle) as found:
        yield from sorted(found, key=lambda entry: entry.name)
