"""One call from a host, from start to finish: bind, resolve cwd, handle, render, fit, package.

Every host's entry script, the command line and the tests use ``Dispatcher.call``. It is the only
place where an outcome becomes wire data. The project tools are not operations, so they have
``Dispatcher.project``.
"""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from hindnote.core.delivery.budget import Budget, measure
from hindnote.core.errors import HostFailure, Malformed, Refusal, Refused
from hindnote.core.places.cwd import resolve_cwd
from hindnote.core.places.home import NotesHome, as_home
from hindnote.core.plugins.border import plain_call
from hindnote.core.plugins.guard import stdout_to_stderr
from hindnote.core.plugins.models import Decoration, HostCall, Identity
from hindnote.core.system.shortage import is_shortage, refusal
from hindnote.core.text.slug import slug
from hindnote.core.tools.operation import BoundCall, Operation
from hindnote.core.tools.outcome import (
    Outcome,
    Result,
    Success,
    render_refusal,
    wire,
    wire_json,
)
from hindnote.core.tools.registry import registry

if TYPE_CHECKING:
    from pathlib import Path

    from hindnote.core.history.sessions import Sessions
    from hindnote.core.plugins.hosts import Hosts
    from hindnote.core.project.run import ToolAnswer
    from hindnote.core.tools.operation import Progress

__all__ = ["Answer", "Dispatcher", "HostFailure"]


class Answer(Struct, frozen=True):
    """The answer to one call, in every form that a host may need."""

    operation: str
    outcome: Outcome[Result]
    result: Mapping[str, Any]
    """The wire result, as JSON-ready data."""

    text: str
    """The text for the model, including the host's decoration."""

    extras: Mapping[str, Any] = field(default_factory=dict)
    """Data only for the host, such as a note's text before and after."""

    @property
    def is_error(self) -> bool:
        """Whether the outcome is a refusal."""
        return isinstance(self.outcome, Refusal)

    def structured(self) -> str:
        """Return the wire result as compact JSON, formatted as ``JSON.stringify`` would."""
        if isinstance(self.outcome, Success):
            return wire_json(self.outcome.data)
        return json.dumps(self.result, ensure_ascii=False, separators=(",", ":"))

    def packaged(self) -> dict[str, Any]:
        """Return the answer in the form that a private transport sends, JSON-ready."""
        return {
            "result": dict(self.result),
            "text": self.text,
            "isError": self.is_error,
            "extras": dict(self.extras),
        }


class Dispatcher:
    """Carries out calls for one set of loaded hosts and one notes home.

    Args:
        hosts: The loaded plugins.
        home: The notes home: the result of ``notes_home``, or an absolute folder, which counts as
            set by the caller.
    """

    def __init__(self, hosts: Hosts, home: Path | NotesHome) -> None:
        self._hosts = hosts
        self._home = as_home(home)

    def call(
        self,
        call: HostCall,
        name: str,
        arguments: Mapping[str, Any],
        progress: Progress | None = None,
    ) -> Answer:
        """Carry out one call.

        Args:
            call: The call as the host's entry script received it.
            name: The operation's name.
            arguments: The arguments, not validated.
            progress: Called with the progress of a list over many sessions.

        Raises:
            ArgumentError: The arguments do not match the operation's input schema.
            HostFailure: The operation or host does not exist, or the host's plugin failed.
        """
        operations = registry()
        operation = operations.get(name)
        if operation is None:
            known = ", ".join(operations)
            raise HostFailure(f"no operation named {name!r}; there are: {known}")
        params = operation.bind(arguments)
        try:
            with stdout_to_stderr:
                bound = self._bound(call, getattr(params, "cwd", None), operation, progress)
                if operation.family == "notes":
                    self._home.admit(bound.base_cwd)
                outcome = operation.handle(bound, params)
        except Refused as refused:
            return _refused(operation, refused.refusal)
        except (MemoryError, OSError) as error:
            if not is_shortage(error) or "io_error" not in operation.codes:
                raise
            return _refused(operation, refusal(error).refusal)
        if isinstance(outcome, Refusal):
            return _refused(operation, outcome)
        return _delivered(operation, outcome, bound.budget)

    def project(self, call: HostCall, name: str, arguments: Mapping[str, Any]) -> ToolAnswer:
        """Carry out one call of a project tool, in the host's base directory.

        Args:
            call: The call as the host's entry script received it.
            name: The tool's name.
            arguments: The arguments, not validated.

        Raises:
            ArgumentError: The arguments do not match the tool's input schema.
            HostFailure: The tool or host does not exist, or the host's plugin failed.
        """
        from hindnote.core.project.run import run_tool

        return run_tool(name, arguments, base_cwd=self._hosts.base_cwd(call))

    def boot(
        self, call: HostCall, offered: Collection[str] | None = None, limit: int | None = None
    ) -> str:
        """Return the boot block for a window that begins now.

        Args:
            call: The call as the host's entry script received it.
            offered: Names of the operations available to the session; None for all.
            limit: Maximum length of the block in code points, for a host that cuts longer ones;
                None: 16,000.

        Raises:
            Refused: ``unreadable_session``; to be shown to the person, not stored.
            HostFailure: The host's plugin failed.
        """
        from hindnote.core.boot.block import BOOT_LIMIT, boot_block

        bound, told = self._bound(call), None
        try:
            self._home.admit(bound.base_cwd)
        except Refused as refused:
            told = refused.refusal.message
        return boot_block(bound, time.time(), offered, told, limit or BOOT_LIMIT)

    def sessions(self, call: HostCall) -> Sessions:
        """Return the sessions that a call can select, for commands that are not operations.

        Raises:
            HostFailure: The host's plugin failed.
        """
        from hindnote.core.history.sessions import Sessions

        return Sessions(self._bound(call))

    def identity(self, call: HostCall) -> Identity:
        """Return who is calling, with the host's names converted to slugs."""
        told = self._hosts.identity(call)
        return Identity(
            home=self._home.place,
            host=told.host,
            session_id=told.session_id,
            agent=slug(told.agent),
            model=slug(told.model),
            tool_prefix=told.tool_prefix,
            ancestors=told.ancestors,
            has_unnamed_ancestors=told.has_unnamed_ancestors,
        )

    def _bound(
        self,
        call: HostCall,
        cwd: str | None = None,
        operation: Operation[Any, Any] | None = None,
        progress: Progress | None = None,
    ) -> BoundCall:
        call = _own(call)
        base = self._hosts.base_cwd(call)
        decoration = Decoration()
        if operation is not None and operation.family == "history":
            decoration = self._hosts.decoration(call, operation.name)
        return BoundCall(
            call=call,
            identity=self.identity(call),
            base_cwd=base,
            cwd=resolve_cwd(base, cwd),
            budget=Budget(decoration),
            history=self._hosts,
            progress=progress,
        )


def _own(call: HostCall) -> HostCall:
    """Return a copy of the call made of the core's own classes."""
    try:
        return plain_call(call)
    except Malformed as error:
        raise HostFailure(f"the host made a call with {error}") from error


def _refused(operation: Operation[Any, Any], refusal: Refusal) -> Answer:
    if refusal.code not in operation.codes:
        raise HostFailure(f"{operation.name} refused with {refusal.code!r}, undeclared for it")
    return Answer(operation.name, refusal, wire(refusal), render_refusal(refusal))


def _delivered(operation: Operation[Any, Any], success: Success[Result], budget: Budget) -> Answer:
    rendering = operation.render(success.data)
    size = measure(success.data, rendering)
    if not budget.allows(size):
        # The handler must select within the budget; cutting here would deliver a partial result as
        # if it were complete.
        raise HostFailure(f"{operation.name} selected more than the output budget holds: {size}")
    text = budget.decoration.wrap(rendering)
    return Answer(operation.name, success, wire(success), text, success.extras)
