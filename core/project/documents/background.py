"""Run one function in a background thread while the caller continues."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, Self, TypeVar

T = TypeVar("T")


class Aside(Generic[T]):
    """Runs a function in a thread during a ``with`` block, which waits for it at its end.

    Useful for a function that releases the GIL, such as a long SQLite statement.

    Args:
        work: The function. The block must not use anything that it uses.
    """

    def __init__(self, work: Callable[[], T]) -> None:
        self._work = work
        self._found: list[T] = []
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        """Start the thread; if that fails, run the function at once."""
        try:
            self._thread.start()
        except RuntimeError:
            self._run()
        return self

    def __exit__(self, *_: object) -> None:
        """Wait for the function."""
        if self._thread.ident is not None:
            self._thread.join()

    def result(self) -> T:
        """Return the function's result, or raise its exception; only after the block."""
        if self._error is not None:
            raise self._error
        return self._found[0]

    def _run(self) -> None:
        try:
            self._found.append(self._work())
        except BaseException as error:  # noqa: BLE001 - raised again where the result is wanted
            self._error = error
