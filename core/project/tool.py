"""What a project tool is: one object that holds everything there is to know of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from hindnote.core.project.call import Call, RootParams
from hindnote.core.project.outcome import Observation
from hindnote.core.project.rendering import View
from hindnote.core.tools.operation import Hints

P = TypeVar("P", bound=RootParams)


@dataclass(frozen=True)
class ProjectTool(Generic[P]):
    """One tool."""

    name: str
    title: str
    description: str
    """For the model; essentials first."""

    params: type[P]
    hints: Hints
    handle: Callable[[Call, P], Observation]
    view: Callable[[Mapping[str, Any], Mapping[str, int]], View]

    @property
    def output_schema(self) -> dict[str, Any]:
        """The closed schema of what the tool returns."""
        from hindnote.core.project.contract_v1 import output_schema

        return output_schema(self.name)
