"""The header of a transcript: its session's id, start, directory, parent and name.

The catalogue and the decoder both use this module, so they always agree.

``<session id>.jsonl`` belongs to that session, even if its rows contain other ids: versions that
resumed or forked into a new file kept the old session's id in the copied rows. ``<session
id>/subagents/**/agent-<agent id>.jsonl`` belongs to a subagent; older versions wrote
``agent-<agent id>.jsonl`` next to the sessions. A renamed file is identified by its rows.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from hindnote.core.history.ends import Read, first_lines, last_lines_with, reader
from hindnote.core.history.files import open_file, read_file
from hindnote.core.history.jsontext import Unreadable, decoded_by
from hindnote.core.system.shortage import is_shortage
from hindnote.core.text import clean
from hindnote.core.text.messages import first_words
from hindnote.hosts.claude.format.kinds import USER, kinds_of, prompted
from hindnote.hosts.claude.format.lineage import Lineage, Origin, find_lineage
from hindnote.hosts.claude.format.rows import CHAIN_TYPES, decode

FACTS_WITHIN = 1 << 26
"""Number of bytes at the beginning of a file that are searched for its header."""

NAME_WITHIN = 1 << 28
"""Number of bytes at the end of a file that a catalogue searches for the session's name."""

PROMPT_WITHIN = 1 << 18
"""Number of bytes at the beginning of a file that a catalogue searches for the first prompt."""

SUBAGENTS = "subagents"

_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_AGENT = "agent-"

# Quotes inside a JSON string are escaped, so this cannot match inside one.
_NAMING = re.compile(rb'"type"\s*:\s*"(?:custom-title|summary)"')
_TITLE, _SUMMARY = b'"custom-title"', b'"summary"'


class PathIds(Struct, frozen=True):
    """The ids in the path of a transcript."""

    session: str | None = None
    """Id of the main session."""

    agent: str | None = None
    """Id of the subagent."""

    @property
    def is_named(self) -> bool:
        """Whether the file has the name of a session or of a subagent."""
        return self.session is not None or self.agent is not None


def place_of(path: Path | str) -> PathIds:
    """Return the ids in a path."""
    # A file name need not be valid Unicode.
    *folders, name = clean(os.fspath(path)).split("/")
    stem = name.removesuffix(".jsonl")
    if stem.startswith(_AGENT) and len(stem) > len(_AGENT):
        main = None
        if SUBAGENTS in folders[1:]:
            last = len(folders) - 1 - folders[::-1].index(SUBAGENTS)
            main = folders[last - 1] if _UUID.fullmatch(folders[last - 1]) else None
        return PathIds(main, stem.removeprefix(_AGENT))
    return PathIds(stem if _UUID.fullmatch(stem) else None)


class Header(Struct):
    """The facts from the path and the first rows of a transcript."""

    session: str | None = None
    """Id of the main session."""

    agent: str | None = None
    """Id of the subagent, in a subagent's transcript."""

    started: str | None = None
    cwd: str | None = None
    origins: tuple[Origin, ...] = ()
    """The sessions from which rows were copied, nearest first."""

    has_rows: bool = False
    """Whether any row has a session id, as nearly all rows of Claude Code do."""

    prompt: str | None = None
    """The beginning of the first prompt, if it was asked for and is near the file's beginning."""

    is_final: bool = False
    """Whether appended rows cannot change the header any more."""

    @property
    def id(self) -> str | None:
        """The session's id, ``<main session id>/<agent id>`` for a subagent."""
        return f"{self.session}/{self.agent}" if self.session and self.agent else self.session

    @property
    def parent(self) -> str | None:
        """Id of the session that it was forked from, or a subagent's main session."""
        if self.agent:
            return self.session
        return self.origins[0].session if self.origins else None


def read_header(path: Path) -> Header:
    """Return the header of a file; an empty header when it cannot be read."""
    try:
        handle = open_file(path)
    except (OSError, ValueError) as error:
        if is_shortage(error):
            raise
        return Header()
    try:
        return find_header(path, reader(handle), os.fstat(handle).st_size)
    except OSError:
        return Header()
    finally:
        os.close(handle)


def find_header(path: Path | str, read: Read, size: int, *, prompt: bool = False) -> Header:
    """Return the header of an open file.

    Args:
        path: The file's path.
        read: Reads it.
        size: Size of the file in bytes.
        prompt: Whether the first prompt is wanted.
    """
    place = place_of(path)
    rows = _Rows(read, size, place, prompt=prompt)
    agent = place.agent or (None if place.session else rows.agent)
    session = place.session or rows.session
    if session is None and place.agent:
        # A file of an old subagent without any readable row.
        session, agent = f"{_AGENT}{place.agent}", None
    copied = find_lineage(session, read, size) if session and not agent else Lineage(())
    return Header(
        session,
        agent,
        rows.started,
        rows.cwd,
        copied.ancestors,
        has_rows=rows.session is not None,
        is_final=rows.complete and (copied.is_final or bool(agent)),
        prompt=rows.prompt,
    )


class _HeadRow(Struct, rename="camel"):
    """Fields accept any type: a value of the wrong type is ignored instead of raising an error."""

    type: Any = None
    uuid: Any = None
    is_sidechain: Any = None
    session_id: Any = None
    agent_id: Any = None
    timestamp: Any = None
    cwd: Any = None
    custom_title: Any = None
    summary: Any = None


class _Rows:
    """Collects facts from a file's first rows; long prompts may be in front of them."""

    def __init__(self, read: Read, size: int, place: PathIds, *, prompt: bool) -> None:
        self.prompt: str | None = None
        self.session: str | None = None
        self.agent: str | None = None
        self.started: str | None = None
        self.cwd: str | None = None
        self.complete = False
        self._conversed = False
        passed = 0
        for line in first_lines(read, size, FACTS_WITHIN):
            row = None if self.complete else decoded_by(_decode, line)
            if row is not None:
                self._take(row)
            passed += len(line)
            if prompt and passed <= PROMPT_WITHIN and b'"user"' in line:
                is_subagent = place.agent or (self.agent and place.session is None)
                self.prompt = _prompt_on(line, bool(is_subagent))
                prompt = self.prompt is None
            if self.complete and (not prompt or passed > PROMPT_WITHIN):
                break

    def _take(self, row: _HeadRow) -> None:
        self.session = self.session or _text(row.session_id)
        self.started = self.started or _text(row.timestamp)
        self.cwd = self.cwd or _text(row.cwd)
        if not self._conversed and _text(row.uuid):
            self._conversed = True
            self.agent = _text(row.agent_id) if row.is_sidechain is True else None
        found = self.session, self.started, self.cwd, self._conversed
        self.complete = all(found)


_decode = msgspec.json.Decoder(_HeadRow).decode


def _prompt_on(line: bytes, is_subagent: bool) -> str | None:
    """Return the beginning of the prompt on a line; None for a line without one of this session."""
    try:
        row = decode(line)
    except Unreadable:
        return None
    if row.type not in CHAIN_TYPES or (row.is_sidechain and not is_subagent):
        return None
    return first_words(prompted(row) or "") if USER in kinds_of(row) else None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


# -- names ---------------------------------------------------------------------


class Name(Struct):
    """The names of a session, by their origin."""

    title: str | None = None
    """Set by the person."""

    summary: str | None = None
    """Generated by versions before 2.0."""

    @property
    def shown(self) -> str | None:
        """The name to show."""
        return self.title or self.summary


def find_name(read: Read, start: int, size: int) -> Name:
    """Return the names in the last rows that name the session.

    Args:
        read: Reads the file.
        start: Offset at which the search ends: the beginning of a line.
        size: Size of the file in bytes.
    """
    name = Name()
    start = max(start, size - NAME_WITHIN)
    for line in last_lines_with(read, start, size, _TITLE, _SUMMARY):
        row = decoded_by(_decode, line) if _NAMING.search(line) else None
        if row is None:
            continue
        if row.type == "custom-title" and _text(row.custom_title):
            return Name(_text(row.custom_title), name.summary)
        if row.type == "summary":
            name.summary = name.summary or _text(row.summary)
    return name


def find_task(path: Path) -> str | None:
    """Return the main agent's description of the task for a subagent, given its transcript."""
    try:
        found = msgspec.json.decode(read_file(path.with_suffix(".meta.json")))
    except (OSError, ValueError, RecursionError) as error:
        if is_shortage(error):
            raise
        return None
    return _text(found.get("description")) if isinstance(found, dict) else None
