"""Open session files: few at a time, and each read as the file that it was."""

from __future__ import annotations

import errno
import gc
import threading
from pathlib import Path

import pytest

from hindnote.core.history import files as session_files
from hindnote.core.history.files import OpenFile, Pool
from hindnote.core.history.index_cache import FileCache
from hindnote.core.history.lines import LineFile


def files(folder: Path, count: int) -> list[Path]:
    made = [folder / f"{number}.jsonl" for number in range(count)]
    for number, path in enumerate(made):
        path.write_bytes(b'{"n":%d}\n' % number)
    return made


def descriptors_open() -> int:
    return len(list(Path("/dev/fd").iterdir()))


def test_many_files_can_be_held_and_read_with_few_descriptors(tmp_path: Path) -> None:
    before = descriptors_open()
    pool = Pool(4)
    held = [OpenFile(path, pool) for path in files(tmp_path, 50)]

    assert [file.read(100, 0) for file in held] == [b'{"n":%d}\n' % n for n in range(50)]
    assert descriptors_open() <= before + 4


def test_a_file_that_is_read_often_keeps_its_descriptor(tmp_path: Path) -> None:
    pool = Pool(4)
    first, *others = files(tmp_path, 20)
    often = OpenFile(first, pool)
    for path in others:
        OpenFile(path, pool)
        often.read(1, 0)
    first.unlink()

    assert often.read(100, 0) == b'{"n":0}\n'


def test_another_file_in_its_place_is_never_read_for_it(tmp_path: Path) -> None:
    (path,) = files(tmp_path, 1)
    file = LineFile(path)
    list(file.advance())
    file.close()
    other = tmp_path / "other"
    other.write_bytes(b'{"n":9}\n')
    other.replace(path)

    assert file.read(0, 7) == b""


def test_a_forgotten_file_gives_its_descriptor_back_without_the_collector(tmp_path: Path) -> None:
    cache = FileCache(lambda file: Cyclic(file), limit=2)
    gc.disable()
    try:
        before = descriptors_open()
        for path in files(tmp_path, 12):
            cache.get(path)
        assert descriptors_open() <= before + 2
    finally:
        gc.enable()


class Cyclic:
    """An index that would live until it is collected."""

    def __init__(self, file: LineFile) -> None:
        self.file, self.me = file, self
        list(file.advance())

    def extend(self) -> None:
        list(self.file.advance())


def test_when_descriptors_run_short_idle_ones_are_closed_and_the_file_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = Pool(10)
    _, wanted = held = [OpenFile(path, pool) for path in files(tmp_path, 2)]
    wanted.close()
    really = session_files.open_file

    def short(path: Path) -> int:
        if pool.count:
            raise OSError(errno.EMFILE, "Too many open files")
        return really(path)

    monkeypatch.setattr(session_files, "open_file", short)

    assert wanted.read(7, 0) == b'{"n":1}'
    assert held[0] is not wanted


def test_memory_that_is_short_is_made_free_before_a_file_is_given_up(tmp_path: Path) -> None:
    alive: list[Path] = []

    class Index:
        def __init__(self, file: LineFile) -> None:
            if alive:
                raise MemoryError
            self.path = file.path
            alive.append(file.path)

        def extend(self) -> None: ...

        def __del__(self) -> None:
            if getattr(self, "path", None) in alive:
                alive.remove(self.path)

    cache = FileCache(Index)
    first, second = files(tmp_path, 2)
    cache.get(first)

    assert cache.get(second).path == second


def test_threads_that_read_through_a_small_pool_read_what_is_there(tmp_path: Path) -> None:
    pool = Pool(2)
    held = [OpenFile(path, pool) for path in files(tmp_path, 12)]
    wrong: list[bytes] = []

    def read() -> None:
        for _ in range(30):
            for number, file in enumerate(held):
                if (found := file.read(100, 0)) != b'{"n":%d}\n' % number:
                    wrong.append(found)

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert wrong == []
    assert pool.count <= 6
