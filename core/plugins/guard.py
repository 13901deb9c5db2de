"""Running a plugin's code: what it raises becomes its named failure, what it prints goes to stderr."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from hindnote.core.errors import REFUSAL_CODES, HostFailure, Malformed, Refusal, Refused, class_name
from hindnote.core.system.shortage import is_shortage, refusal
from hindnote.core.text.messages import one_line

if TYPE_CHECKING:
    from hindnote.core.plugins.source import Source

REFUSALS = {"host_projection": "unreadable_session"}
"""The code with which a hook may refuse, for the hooks that may."""


class _Depth(threading.local):
    here = 0


class _StdoutToStderr:
    """Sends standard output to standard error while a plugin runs, in any thread.

    Standard output carries a protocol or a machine-readable answer; a plugin's ``print``
    would damage it. The count is shared by all threads: the first that enters redirects, the last
    that leaves restores, so two plugins at the same time cannot restore each other's stream.
    """

    def __init__(self) -> None:
        self._depth = _Depth()
        self._lock = threading.Lock()
        self._threads = 0
        self._saved: TextIO = sys.stdout

    @property
    def is_on(self) -> bool:
        """Whether this thread has redirected already; what it asks often need not do it again."""
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
    """Run a plugin's code, or check what it answered.

    Args:
        source: The plugin.
        hook: The hook that is asked, or that gave the object that is asked.
        what: What is asked, for messages; the hook by itself when it is None.

    Raises:
        HostFailure: The code raised what this hook may not raise, or ``Malformed``.
        Refused: The hook may refuse with this code, or this process lacks memory or descriptors.
    """
    try:
        with stdout_to_stderr:
            yield
    except BaseException as error:  # noqa: BLE001
        raise raised(source, hook, what or hook, error) from crash(error)


def raised(source: Source, hook: str, what: str, error: BaseException) -> BaseException:
    """Return what to raise from what a plugin's code or a check of its answer raised.

    ``answering`` in a form that costs nothing as long as nothing is raised: for what is asked once
    for each slot of a session, or each session of a catalogue.
    """
    if isinstance(error, KeyboardInterrupt):
        return error
    if isinstance(error, Malformed):
        return HostFailure(f"{source} answered {what} with {error}")
    if isinstance(error, Exception) and is_shortage(error):
        # No plugin is to blame for what this process lacks.
        return refusal(error)
    return _named(source, hook, what, error)


def crash(error: BaseException) -> BaseException | None:
    """Return what is worth a traceback: what a plugin raised, not what a check found."""
    return None if isinstance(error, Malformed) else error


def _named(source: Source, hook: str, what: str, error: BaseException) -> Exception:
    """Return the core's own exception for one that a plugin raised.

    A plugin's subclass of ``Refused`` or ``HostFailure`` could run code whenever the core looks at
    it, so only the plain ones keep their message.
    """
    if type(error) is Refused:
        return _refused(source, hook, what, error)
    if type(error) is HostFailure and len(error.args) == 1 and type(error.args[0]) is str:
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
