"""One call of a project tool: its common parameters, its place and its log."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hindnote.core.project.effects import EffectLog
from hindnote.core.project.workspace import Workspace
from hindnote.core.tools.operation import Params

if TYPE_CHECKING:
    from hindnote.core.project.documents.profiles import Providers


class RootParams(Params):
    """Parameters that every project tool takes."""

    workspace_root: str | None = None
    """Directory to work in, inside the session's directory; default: that directory."""

    docs_root: str | None = None
    """Documents below the workspace; default: docs."""

    todos_root: str | None = None
    """Todos below the workspace; default: todos."""


@dataclass(frozen=True, slots=True)
class Call:
    """What a handler works with."""

    workspace: Workspace
    effects: EffectLog
    providers: Providers | None = None
    """Profile providers; None: the installed ones."""
