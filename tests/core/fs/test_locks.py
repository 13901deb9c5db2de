from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from hindnote.core.fs import handles, locks


@pytest.fixture
def root(tmp_path: Path) -> Iterator[int]:
    with handles.closing(handles.open_root(tmp_path)) as handle:
        yield handle


def is_free(root: int) -> bool:
    try:
        with locks.locked_file(root, "x.lock", seconds=0):
            return True
    except locks.HeldError:
        return False


def test_a_lock_keeps_out_a_second_opening_of_the_same_process(root: int) -> None:
    with locks.locked_file(root, "x.lock", seconds=1):
        assert not is_free(root)
    assert is_free(root)


HOLD = """
import sys
from hindnote.core.fs import handles, locks
with locks.locked_file(handles.open_root(sys.argv[1]), "x.lock", seconds=1):
    print("held", flush=True)
    sys.stdin.readline()
"""


def test_a_lock_is_free_when_its_holder_dies(tmp_path: Path, root: int) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        assert not is_free(root)
        holder.send_signal(signal.SIGKILL)
        with locks.locked_file(root, "x.lock", seconds=10):
            pass


def test_threads_take_turns(root: int) -> None:
    inside, most = 0, 0

    def work() -> None:
        nonlocal inside, most
        for _ in range(20):
            with locks.locked_file(root, "x.lock", seconds=20):
                inside += 1
                most = max(most, inside)
                inside -= 1

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert most == 1


def test_a_lock_file_that_was_replaced_while_we_waited_is_not_taken_for_the_lock(
    tmp_path: Path, root: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    acquire, replaced = locks.acquire, list[str]()

    def replace_first(handle: int, **options: float) -> None:
        if not replaced:
            replaced.append("once")
            (tmp_path / "x.lock").unlink()
        acquire(handle, **options)

    monkeypatch.setattr(locks, "acquire", replace_first)

    with locks.locked_file(root, "x.lock", seconds=5):
        assert (tmp_path / "x.lock").is_file()
        assert not is_free(root)


@pytest.mark.parametrize("kind", ["link", "link to nothing", "folder", "pipe"])
def test_what_is_no_file_is_no_lock_and_stays(tmp_path: Path, root: int, kind: str) -> None:
    place, outside = tmp_path / "x.lock", tmp_path / "outside"
    if kind == "link":
        outside.write_text("theirs")
    if kind == "folder":
        place.mkdir()
    elif kind == "pipe":
        os.mkfifo(place)
    else:
        place.symlink_to(outside)
    before = place.lstat()

    with pytest.raises(handles.NotRegularError), locks.locked_file(root, "x.lock", seconds=1):
        pass

    assert os.path.samestat(before, place.lstat())
    assert outside.exists() == (kind == "link")


def test_a_lock_file_is_never_written(tmp_path: Path, root: int) -> None:
    (tmp_path / "x.lock").write_text("theirs")

    assert is_free(root)
    assert (tmp_path / "x.lock").read_text() == "theirs"


def test_a_folder_can_be_locked_shared_and_alone(tmp_path: Path, root: int) -> None:
    with (
        handles.closing(handles.open_root(tmp_path)) as other,
        locks.locked(root, seconds=0, shared=True),
    ):
        with locks.locked(other, seconds=0, shared=True):
            pass
        with pytest.raises(locks.HeldError), locks.locked(other, seconds=0):
            pass
