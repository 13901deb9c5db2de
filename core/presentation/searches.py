"""A search's printed lines as files, blocks and matches, whichever host's tool printed them."""

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
    """Return what a search found; None when no printed line names a file and a line.

    Args:
        body: The printed lines.
        tail: What stands behind them.
        notices: What the tool said about its own result.
        arguments: ``pattern``, ``path``, ``context``, ``ignoreCase``, ``literal`` and ``glob`` of the
            call, as far as it gave them; None when the call is not known.
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
    """Group read lines into files and blocks, in the order in which they were printed."""
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
