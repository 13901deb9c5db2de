"""Run a plugin's code: its exceptions become ours, and its prints go to standard error."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO, TypeGuard

from hindnote.core.errors import REFUSAL_CODES, HostFailure, Malformed, Refusal, Refused, class_name
from hindnote.core.system.shortage import is_shortage, refusal
from hindnote.core.text.messages import one_line

if TYPE_CHECKING:
    from hindnote.core.plugins.source import Source

REFUSALS = {"host_projection": "unreadable_session"}
"""The refusal code that a hook may raise, for the hooks that may raise one."""


class _Depth(threading.local):
    here = 0


class _StdoutToStderr:
    """Sends standard output to standard error while a plugin runs, in any thread.

    Standard output carries a protocol or a machine-readable answer, which a plugin's ``print``
    would damage. All threads share one count: the first to enter redirects and the last to leave
    restores, so concurrent plugins cannot restore each other's stream.
    """

    def __init__(self) -> None:
        self._depth = _Depth()
        self._lock = threading.Lock()
        self._threads = 0
        self._saved: TextIO = sys.stdout

    @property
    def is_on(self) -> bool:
        """Whether this thread has redirected already, so frequent calls can skip it."""
        return self._depth.here > 0

    def __enter__(self) -> None:
        self._depth.here += 1
        if self._depth.here > 1:
            return
        with self._lock:
            if not self._threads:
                self._saved, sys.stdout = sys.stdout, sys.stderr
            self._threads += 1

    def __exit__(self, *raised: object) -> None:
        self._depth.here -= 1
        if self._depth.here:
            return
        with self._lock:
            self._threads -= 1
            if not self._threads:
                sys.stdout = self._saved


stdout_to_stderr = _StdoutToStderr()


@contextmanager
def answering(source: Source, hook: str, what: str | None = None) -> Iterator[None]:
    """Run a plugin's code, or check its answer, and translate exceptions.

    Args:
        source: The plugin.
        hook: The hook that is called, or that returned the object that is used.
        what: The call, for messages; None for the hook itself.

    Raises:
        HostFailure: The code raised an exception that this hook may not raise, or ``Malformed``.
        Refused: The hook may refuse with this code, or this process is out of memory or
            descriptors.
    """
    try:
        with stdout_to_stderr:
            yield
    except BaseException as error:  # noqa: BLE001
        raise raised(source, hook, what or hook, error) from crash(error)


def raised(source: Source, hook: str, what: str, error: BaseException) -> BaseException:
    """Return the exception to raise for one that a plugin's code or a check of its answer raised.

    Does the same as ``answering``, but costs nothing when there is no exception: for calls that
    are made for each slot of a session, or each session of a catalogue.
    """
    if isinstance(error, KeyboardInterrupt):
        return error
    if isinstance(error, Malformed):
        return HostFailure(f"{source} answered {what} with {error}")
    if isinstance(error, Exception) and is_shortage(error):
        # No plugin is to blame when this process runs out of resources.
        return refusal(error)
    return _named(source, hook, what, error)


def crash(error: BaseException) -> BaseException | None:
    """Return the exception whose traceback helps to find a defect; None when words suffice.

    They do for what our own check found, and for what a plugin explains by a ``HostFailure``.
    """
    if isinstance(error, Malformed):
        return None
    return error.__cause__ if _explains(error) else error


def _explains(error: BaseException) -> TypeGuard[HostFailure]:
    """Return whether an exception is a plugin's own explanation, whose message is kept."""
    return type(error) is HostFailure and len(error.args) == 1 and type(error.args[0]) is str


def _named(source: Source, hook: str, what: str, error: BaseException) -> Exception:
    """Return the core's exception for one that a plugin raised.

    A plugin's subclass of ``Refused`` or ``HostFailure`` could run code whenever the core reads
    it, so only instances of these exact classes keep their message.
    """
    if type(error) is Refused:
        return _refused(source, hook, what, error)
    if _explains(error):
        return HostFailure(one_line(error.args[0]))
    return HostFailure(f"{source} failed in {what} with {class_name(type(error))}")


def _refused(source: Source, hook: str, what: str, error: Refused) -> Exception:
    refusal = error.refusal
    if not (
        type(refusal) is Refusal
        and type(refusal.code) is str
        and type(refusal.message) is str
        and refusal.code in REFUSAL_CODES
    ):
        return HostFailure(f"{source} refused {what} with something that is not a refusal")
    allowed = REFUSALS.get(hook)
    if refusal.code == allowed:
        return Refused(refusal.code, refusal.message)
    may = f"only {allowed!r}" if allowed else "nothing"
    return HostFailure(f"{source} refused {what} with {refusal.code!r}, and may refuse {may} there")
