"""One piece of work in a thread of its own, while its caller goes on."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, Self, TypeVar

T = TypeVar("T")


class Aside(Generic[T]):
    """Work that is done beside what a ``with`` block does; the block ends when both have.

    It pays for work that leaves the interpreter's lock alone, like a long statement of
    SQLite.

    Args:
        work: What to do. Nothing that the block does may touch what it touches.
    """

    def __init__(self, work: Callable[[], T]) -> None:
        self._work = work
        self._found: list[T] = []
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        """Begin; where no thread can be had, the work is done before the block."""
        try:
            self._thread.start()
        except RuntimeError:
            self._run()
        return self

    def __exit__(self, *_: object) -> None:
        """Wait for the end."""
        if self._thread.ident is not None:
            self._thread.join()

    def result(self) -> T:
        """Return what the work came to, or raise what it raised; to be asked after the block."""
        if self._error is not None:
            raise self._error
        return self._found[0]

    def _run(self) -> None:
        try:
            self._found.append(self._work())
        except BaseException as error:  # noqa: BLE001 - raised again where the result is wanted
            self._error = error
