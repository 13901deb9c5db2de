"""The lock of a folder, by which transitions, their readers and users of the index keep apart."""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hindnote.core.project.state import folder_lock, lock_folder

Open = Callable[[], int]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Open]:
    """Return a function that opens one folder, each time with a lock of its own."""
    handles = []

    def open_folder() -> int:
        handles.append(os.open(tmp_path, os.O_RDONLY))
        return handles[-1]

    yield open_folder
    for handle in handles:
        os.close(handle)


def test_a_folder_is_shared_or_had_alone(opened: Open) -> None:
    first, second = opened(), opened()

    assert lock_folder(first, exclusive=False, seconds=0)
    assert lock_folder(second, exclusive=False, seconds=0)
    assert not lock_folder(second, exclusive=True, seconds=0.02)


def test_a_lock_is_free_again_after_its_block(opened: Open) -> None:
    with folder_lock(opened(), exclusive=True, seconds=0) as held:
        assert held
        with folder_lock(opened(), exclusive=False, seconds=0.02) as late:
            assert not late

    assert lock_folder(opened(), exclusive=True, seconds=0)


def test_where_nothing_can_be_locked_nobody_is_kept_out(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", refuse)

    with folder_lock(opened(), exclusive=True, seconds=0) as held:
        assert held
