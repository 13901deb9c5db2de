"""A project tool: one object that defines everything about it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from hindnote.core.project.contract.envelope import Success
from hindnote.core.project.effects import EffectLog
from hindnote.core.project.outcome import Observation
from hindnote.core.project.rendering import View
from hindnote.core.project.workspace import Workspace
from hindnote.core.tools.operation import Hints, Params

if TYPE_CHECKING:
    from hindnote.core.project.documents.profiles import Providers


class RootParams(Params):
    """Parameters that every project tool has."""

    workspace_root: str | None = None
    """Directory to work in, inside the session's directory; default: that directory."""

    docs_root: str | None = None
    """Documents below the workspace; default: docs."""

    todos_root: str | None = None
    """Todos below the workspace; default: todos."""


P = TypeVar("P", bound=RootParams)


@dataclass(frozen=True, slots=True)
class Call:
    """The context of a handler."""

    workspace: Workspace
    effects: EffectLog
    providers: Providers | None = None
    """Profile providers; None: the installed ones."""


@dataclass(frozen=True)
class ProjectTool(Generic[P]):
    """One project tool."""

    name: str
    title: str
    description: str
    """For the model; the essentials first."""

    params: type[P]
    success: type[Success]
    """The envelope of a successful call; see ``core.project.contract``."""

    hints: Hints
    handle: Callable[[Call, P], Observation]
    view: Callable[[Mapping[str, Any], Mapping[str, int]], View]
