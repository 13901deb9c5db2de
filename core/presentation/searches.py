"""Convert a search's printed lines to files, blocks and matches, for any host's tool."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hindnote.core.presentation.grep import CUT, Reading, resolve
from hindnote.core.presentation.models import Grep, GrepFile, GrepLine, LooseLine
from hindnote.core.presentation.query import query


def search_of(
    body: str,
    tail: str,
    notices: tuple[str, ...],
    arguments: Mapping[str, Any] | None,
    common: Mapping[str, Any],
) -> Grep | None:
    """Return the result of a search; None when no printed line contains a file and a line number.

    Args:
        body: The printed lines.
        tail: The text after them.
        notices: Notices of the tool about its own result.
        arguments: ``pattern``, ``path``, ``context``, ``ignoreCase``, ``literal`` and ``glob`` of
            the call, if given; None when the call is unknown.
        common: Fields that every presentation has.
    """
    lines = body.split("\n")
    reading = resolve(lines, query(arguments, notices))
    if reading is None:
        return None
    files = _files(lines, reading)
    return Grep(
        files=files,
        loose=tuple(
            LooseLine(index=index, text=line)
            for index, (line, split) in enumerate(zip(lines, reading.splits, strict=True))
            if split is None
        ),
        spaced=reading.spaced,
        match_count=sum(split.match for split in reading.splits if split),
        file_count=len({file.path for file in files}),
        notices=notices,
        tail=tail,
        **common,
    )


def _files(lines: Sequence[str], reading: Reading) -> tuple[GrepFile, ...]:
    """Group the lines into files and blocks, in printed order."""
    files: list[tuple[str | None, list[list[GrepLine]]]] = []
    guessed: set[int] = set()
    last = None
    for index, (line, split) in enumerate(zip(lines, reading.splits, strict=True)):
        if split is not None:
            text = line[split.start :]
            shown = GrepLine(
                line=split.line,
                text=text,
                kind="match" if split.match else "context",
                cut=text.endswith(CUT),
            )
            if not files or files[-1][0] != split.path:
                files.append((split.path, [[shown]]))
            elif last is not None and split.line == last.line + 1:
                files[-1][1][-1].append(shown)
            else:
                files[-1][1].append([shown])
            if index in reading.guessed:
                guessed.add(len(files) - 1)
        last = split
    return tuple(
        GrepFile(path=path, guessed=number in guessed, blocks=tuple(map(tuple, blocks)))
        for number, (path, blocks) in enumerate(files)
    )
