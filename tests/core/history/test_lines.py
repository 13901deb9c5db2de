from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindnote.core.history import lines
from hindnote.core.history.index_cache import FileCache
from hindnote.core.history.lines import LineFile, State


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "session.jsonl"


def bodies(file: LineFile) -> list[bytes]:
    return [line for _, line in file.advance()]


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


def test_lines_end_at_newline_bytes_only(path: Path) -> None:
    inside = '{"a":"\u2028\u2029\x85\x0c\x1c"}'.encode()
    path.write_bytes(inside + b"\n" + b'{"b":1}\r\n')

    assert bodies(LineFile(path)) == [inside, b'{"b":1}\r']


def test_offsets_lead_back_to_each_line(path: Path) -> None:
    path.write_bytes('{"é":1}\n\n  \n{"b":2}\nbroken\n{"c":3}'.encode())
    file = LineFile(path)

    found = list(file.advance())

    assert [line for _, line in found] == ['{"é":1}'.encode(), b'{"b":2}', b"broken", b'{"c":3}']
    assert [file.read(offset, len(line)) for offset, line in found] == [line for _, line in found]


def test_a_batch_tells_place_and_size_of_each_line(path: Path) -> None:
    path.write_bytes('{"é":1}\n\n  \n{"b":2}'.encode())

    whole, rest = LineFile(path).batches()

    assert whole.lines == ['{"é":1}\n'.encode(), b"\n", b"  \n"]
    assert (whole.offsets, whole.sizes) == ([0, 9, 10], [8, 0, 2])
    assert list(whole.filled()) == [(0, '{"é":1}'.encode())]
    assert rest == ([13], [7], [b'{"b":2}'])


def test_an_empty_file_has_no_lines(path: Path) -> None:
    path.touch()
    file = LineFile(path)

    assert bodies(file) == []
    assert file.state() is State.SAME


def test_a_whole_last_line_without_newline_is_delivered_once(path: Path) -> None:
    path.write_bytes(b'{"a":1}\n{"b":2}')
    file = LineFile(path)
    assert bodies(file) == [b'{"a":1}', b'{"b":2}']

    append(path, b"\n")
    assert file.state() is State.GREW
    assert bodies(file) == []

    append(path, b'{"c":3}\n')
    assert file.state() is State.GREW
    assert bodies(file) == [b'{"c":3}']


def test_a_half_written_last_line_comes_when_it_is_complete(path: Path) -> None:
    path.write_bytes(b'{"a":1}\n{"b":{"x":1}')
    file = LineFile(path)
    assert bodies(file) == [b'{"a":1}']

    append(path, b',"y":2}\n{"c"')
    assert file.state() is State.GREW
    assert bodies(file) == [b'{"b":{"x":1},"y":2}']

    append(path, b":3}")
    assert bodies(file) == [b'{"c":3}']


def test_a_line_that_goes_on_behind_a_whole_object_is_a_replacement(path: Path) -> None:
    path.write_bytes(b'{"a":1}')
    file = LineFile(path)
    assert bodies(file) == [b'{"a":1}']

    append(path, b'{"b":2}\n')

    assert file.state() is State.REPLACED


def test_each_way_of_replacing_a_file_is_noticed(path: Path) -> None:
    old = b'{"a":1}\n' * 500

    def fresh() -> LineFile:
        path.write_bytes(old)
        file = LineFile(path)
        assert len(bodies(file)) == 500
        return file

    file = fresh()
    os.truncate(path, 80)
    assert file.state() is State.REPLACED

    file = fresh()
    path.write_bytes(b'{"b":1}\n' * 600)
    assert file.state() is State.REPLACED

    file = fresh()
    path.rename(path.with_suffix(".1"))
    path.write_bytes(old + b'{"c":1}\n')
    assert file.state() is State.REPLACED
    assert file.read(0, 8) == b'{"a":1}\n'

    file = fresh()
    path.unlink()
    assert file.state() is State.REPLACED


def test_a_touched_file_is_not_read_again(path: Path) -> None:
    path.write_bytes(b'{"a":1}\n')
    file = LineFile(path)
    bodies(file)
    os.utime(path, (1, 1))

    assert file.state() is State.GREW
    assert bodies(file) == []
    assert file.state() is State.SAME


def test_a_read_past_a_truncation_comes_back_short(path: Path) -> None:
    path.write_bytes(b'{"a":1}\n{"b":2}\n')
    file = LineFile(path)
    bodies(file)
    os.truncate(path, 10)

    assert file.read(8, 7) == b'{"'
    assert file.read(12, 4) == b""


def test_a_pipe_or_folder_is_refused_and_does_not_block(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")

    for name in ("pipe", "."):
        with pytest.raises(OSError, match="not a regular file"):
            LineFile(tmp_path / name)


@given(
    st.lists(st.sampled_from([b'{"a":1}', b'{"x":"' + b"y" * 40 + b'"}', b"torn{", b"", b" "])),
    st.lists(st.integers(1, 60), min_size=1),
    st.integers(1, 50),
)
def test_growth_in_any_pieces_delivers_what_one_read_delivers(
    tmp_path_factory: pytest.TempPathFactory, wanted: list[bytes], steps: list[int], chunk: int
) -> None:
    path = tmp_path_factory.mktemp("grow") / "s.jsonl"
    data = b"".join(line + b"\n" for line in wanted)
    path.touch()
    file = LineFile(path)
    found: list[bytes] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "_CHUNK", chunk)
        position = 0
        while position < len(data):
            step = steps[len(found) % len(steps)]
            append(path, data[position : position + step])
            position += step
            assert file.state() is State.GREW
            found += bodies(file)

    assert found == [line for line in wanted if line.strip()]


class Count:
    def __init__(self, file: LineFile) -> None:
        self.file = file
        self.seen = bodies(file)

    def extend(self) -> None:
        self.seen = self.seen + bodies(self.file)


def test_cache_extends_a_grown_file_and_decodes_a_replaced_one_afresh(path: Path) -> None:
    cache = FileCache(Count)
    path.write_bytes(b'{"a":1}\n')
    first = cache.get(path)
    assert cache.get(path) is first

    append(path, b'{"b":2}\n')
    assert cache.get(path) is first
    assert first.seen == [b'{"a":1}', b'{"b":2}']

    path.write_bytes(b'{"c":3}\n')
    second = cache.get(path)
    assert second.seen == [b'{"c":3}']
    assert first.seen == [b'{"a":1}', b'{"b":2}']


def test_cache_forgets_the_least_recently_used_file(tmp_path: Path) -> None:
    cache = FileCache(Count, limit=2)
    paths = [tmp_path / name for name in "abc"]
    for path in paths:
        path.write_bytes(b"{}\n")

    first = cache.get(paths[0])
    second = cache.get(paths[1])
    assert cache.get(paths[0]) is first
    cache.get(paths[2])

    assert cache.get(paths[0]) is first
    assert cache.get(paths[1]) is not second


def test_cache_keeps_running_sessions_whatever_else_is_read(tmp_path: Path) -> None:
    cache = FileCache(Count, limit=2)
    paths = [tmp_path / name for name in "abcdef"]
    for path in paths:
        path.write_bytes(b"{}\n")
    cache.get(paths[0])

    running = cache.get(paths[0], running=True)
    for path in paths[1:]:
        cache.get(path)

    assert cache.get(paths[0]) is running
    assert cache.get(paths[0], running=True) is running


def test_cache_forgets_running_sessions_beyond_its_limit(tmp_path: Path) -> None:
    cache = FileCache(Count, limit=2)
    paths = [tmp_path / name for name in "abc"]
    for path in paths:
        path.write_bytes(b"{}\n")
    first, *_ = [cache.get(path, running=True) for path in paths]

    assert cache.get(paths[0], running=True) is not first


def test_cache_says_when_a_file_is_gone_and_finds_it_again(path: Path) -> None:
    cache = FileCache(Count)
    with pytest.raises(FileNotFoundError):
        cache.get(path)

    path.write_bytes(b"{}\n")
    assert cache.get(path).seen == [b"{}"]
    path.unlink()
    with pytest.raises(FileNotFoundError):
        cache.get(path)


def test_cache_decodes_afresh_after_an_extension_that_failed(path: Path) -> None:
    cache = FileCache(Count)
    path.write_bytes(b'{"a":1}\n')
    first = cache.get(path)
    append(path, b'{"b":2}\n')
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(first, "extend", lambda: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            cache.get(path)

    second = cache.get(path)

    assert second is not first
    assert second.seen == [b'{"a":1}', b'{"b":2}']


# -- what costs itself alone ---------------------------------------------------


def test_a_record_behind_nul_bytes_is_delivered_and_the_gap_as_a_line_of_its_own(
    path: Path,
) -> None:
    gap = b"\0" * 4096
    path.write_bytes(b'{"a":1}\n' + gap + b'{"b":2}\n{"c"' + gap + b'{"d":4}' + gap + b"\n")
    file = LineFile(path)

    found = list(file.advance())

    assert [line for _, line in found] == [
        *(b'{"a":1}', gap, b'{"b":2}', b'{"c"', gap, b'{"d":4}', gap)
    ]
    assert [file.read(offset, len(line)) for offset, line in found] == [line for _, line in found]


def test_a_whole_record_behind_nul_bytes_needs_no_newline(path: Path) -> None:
    path.write_bytes(b"\0" * 10 + b'{"b":2}')

    assert bodies(LineFile(path)) == [b"\0" * 10, b'{"b":2}']


def test_a_line_that_is_too_long_is_passed_over_and_counted_as_one(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "LINE_LIMIT", 100)
    monkeypatch.setattr(lines, "_CHUNK", 16)
    long, longer = b'{"x":"' + b"y" * 200 + b'"}', b"z" * 1_000
    parts = [b'{"a":1}', long, b'{"b":2}', b'{"c":3}', longer, longer, b'{"d":4}']
    path.write_bytes(b"".join(part + b"\n" for part in parts))
    file = LineFile(path)

    found = list(file.advance())

    assert [line for _, line in found if b"\0" not in line] == [
        *(b'{"a":1}', b'{"b":2}', b'{"c":3}', b'{"d":4}')
    ]
    starts = [sum(len(part) + 1 for part in parts[:place]) for place in range(len(parts))]
    assert [offset for offset, _ in found] == starts
    assert file.end == path.stat().st_size


@given(
    st.lists(st.integers(0, 60), max_size=12),
    st.integers(1, 40),
    st.integers(1, 20),
    st.booleans(),
)
def test_every_line_within_the_limit_comes_whatever_stands_beside_it(
    tmp_path_factory: pytest.TempPathFactory,
    sizes: list[int],
    limit: int,
    chunk: int,
    closed: bool,
) -> None:
    path = tmp_path_factory.mktemp("lines") / "file"
    rows = [b"%d" % (place % 10) * size for place, size in enumerate(sizes)]
    path.write_bytes(b"\n".join(rows) + (b"\n" if closed else b""))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "LINE_LIMIT", limit)
        patch.setattr(lines, "_CHUNK", chunk)
        found = bodies(LineFile(path))

    ended = rows if closed else rows[:-1]
    assert [row for row in found if len(row) <= limit and b"\0" not in row] == [
        row for row in ended if 0 < len(row) <= limit
    ]
    assert sum(len(row) > limit + chunk for row in found) == 0


def test_a_file_that_is_too_large_is_refused_before_it_is_read(path: Path) -> None:
    path.write_bytes(b'{"a":1}\n')
    os.truncate(path, 10 << 30)

    with pytest.raises(OSError, match=r"it has 10,737,418,240 bytes, and at most 1,073,741,824"):
        bodies(LineFile(path))


def test_a_file_says_when_what_was_read_of_it_is_no_longer_there(path: Path) -> None:
    path.write_bytes(b'{"a":1}\n')
    file = LineFile(path)
    assert bodies(file) == [b'{"a":1}']
    append(path, b'{"b":2}\n')
    assert not file.rewritten()

    path.write_bytes(b'{"z":1}\n{"b":2}\n')

    assert file.rewritten()
