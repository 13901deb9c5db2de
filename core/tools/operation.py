"""An operation: one object that defines everything about one tool.

The seven operations are instances of ``Operation``, collected once in
``core.tools.registry``. Their declarations (``core.tools.schema``) and their calls
(``core.call``) are derived from these objects and defined nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeAlias, TypeVar

from msgspec import Struct
from pydantic import ConfigDict, ValidationError, model_validator

from hindnote.core.errors import ArgumentError, RefusalCode
from hindnote.core.places.database_home import DatabaseHome
from hindnote.core.places.project import project_key, shared_key
from hindnote.core.text import clean_json
from hindnote.core.text.messages import cut, one_line
from hindnote.core.tools.field_docs import Described
from hindnote.core.tools.outcome import Outcome, Result

if TYPE_CHECKING:
    from pathlib import Path

    from hindnote.core.delivery.budget import Budget
    from hindnote.core.history.source import HistorySource
    from hindnote.core.plugins.models import HostCall, Identity


Progress: TypeAlias = Callable[[int, int], None]
"""Called with two counts: how many items are done, and how many there are."""


class Params(Described):
    """Base of all parameter models: strict, frozen, unknown fields rejected.

    Three things are tolerated: a float without fraction counts as an integer, a ``null`` field
    counts as omitted, and a lone surrogate in a string becomes U+FFFD.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, defer_build=True)

    @model_validator(mode="before")
    @classmethod
    def _accept(cls, data: Any) -> Any:
        if not isinstance(data, Mapping):
            return data
        return {key: _whole(value) for key, value in data.items() if value is not None}


def _whole(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [_whole(item) for item in value]
    return value


class BoundCall(Struct, frozen=True, dict=True):
    """One call with its context (identity, directories, budget), resolved once."""

    call: HostCall
    identity: Identity
    base_cwd: Path
    """The host's base directory, absolute. It may be missing, since a session outlives its
    worktree."""

    cwd: Path
    """The directory of this call: ``base_cwd``, or the resolved ``cwd``, which exists."""

    budget: Budget
    history: HistorySource
    """Source of projections and session catalogues."""

    progress: Progress | None = None
    """Called with the progress of a list over many sessions; None when nobody waits for it."""

    @cached_property
    def project_key(self) -> str | None:
        """Key of the project's notes; None when ``cwd`` does not exist."""
        return self._shared_key or self.local_key

    @cached_property
    def local_key(self) -> str | None:
        """Key of the project by its path on this machine; None when ``cwd`` does not exist."""
        return project_key(self.cwd) if _is_directory(self.cwd) else None

    @property
    def is_local_project(self) -> bool:
        """Whether a shared home has the project's notes under a key of this machine alone."""
        shared = isinstance(self.identity.home, DatabaseHome)
        return shared and self.local_key is not None and self._shared_key is None

    @cached_property
    def _shared_key(self) -> str | None:
        if not isinstance(self.identity.home, DatabaseHome) or self.local_key is None:
            return None
        return shared_key(self.cwd)


def _is_directory(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:
        return False


class Hints(Struct, frozen=True, rename="camel"):
    """Hints about a tool that a host may show before a call; serialized in the declaration."""

    read_only: bool
    destructive: bool = False
    idempotent: bool = True


P = TypeVar("P", bound=Params)
S = TypeVar("S", bound=Result)

Family = Literal["notes", "history"]


class Operation(Struct, Generic[P, S], frozen=True):
    """One operation, the core of one tool.

    ``handle`` selects data within the call's budget and returns an outcome, or raises ``Refused``.
    ``render`` makes the text from the result alone.
    """

    name: str
    title: str
    description: str
    """For the model: under 2,048 characters, the essentials first."""

    family: Family
    params: type[P]
    success: type[S]
    codes: frozenset[RefusalCode]
    """Every code with which this operation may refuse a call."""

    hints: Hints
    handle: Callable[[BoundCall, P], Outcome[S]]
    render: Callable[[S], str]

    def bind(self, arguments: Mapping[str, Any]) -> P:
        """Return validated parameters.

        Raises:
            ArgumentError: The arguments do not match the input schema.
        """
        return bind(self.name, self.params, arguments)


def bind(name: str, params: type[P], arguments: Mapping[str, Any]) -> P:
    """Return validated parameters of the tool ``name``.

    Raises:
        ArgumentError: The arguments do not match the input schema.
    """
    try:
        return params.model_validate(clean_json(dict(arguments)))
    except ValidationError as error:
        raise ArgumentError(_explain(name, params, error)) from None
    except RecursionError:
        raise ArgumentError(f"{name}: the arguments are nested too deeply") from None


def _explain(name: str, params: type[Params], error: ValidationError) -> str:
    problems = []
    for item in error.errors(include_url=False, include_input=False, include_context=False):
        where = cut(".".join(str(part) for part in item["loc"])) or "arguments"
        if item["type"] == "extra_forbidden":
            fields = params.model_fields.items()
            known = ", ".join(field.alias or name for name, field in fields)
            problems.append(f"{where}: unknown field (known: {known})")
        else:
            problems.append(f"{where}: {item['msg'].removeprefix('Value error, ')}")
    return one_line(f"{name}: invalid arguments: " + "; ".join(problems))
