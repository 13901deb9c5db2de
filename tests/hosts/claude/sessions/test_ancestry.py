"""Which sessions are forks that have no boot block of their own yet."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from claude_rows import SESSION, Writer

from hindnote.core.plugins.models import HostCall
from hindnote.hosts.claude.sessions.ancestry import lacks_fork_block


def lacks(file: Path) -> bool:
    call = HostCall(host="claude", cwd=file.parent, session_id=SESSION, session_file=file)
    return lacks_fork_block(call)


def session(file: Path, *, forked: bool, block: bool) -> Path:
    """Write a session, which may be a fork and may hold a boot block that names it."""
    writer = Writer()
    writer.user("p")
    copied = {"requestSessionId": "the other"} if forked else {}
    answer = {"role": "assistant", "id": "m", "content": [{"type": "text", "text": "a"}]}
    writer.add("assistant", "a", "p", message=answer, **copied)
    writer.user("q", "a", content=f"Host claude, session {SESSION}, agent x." if block else "q")
    return writer.write(file)


@pytest.mark.parametrize(
    ("forked", "block", "wanted"),
    [(True, False, True), (True, True, False), (False, False, False), (False, True, False)],
)
def test_a_fork_gets_a_block_once_and_no_other_session_does(
    tmp_path: Path, forked: bool, block: bool, wanted: bool
) -> None:
    assert lacks(session(tmp_path / f"{SESSION}.jsonl", forked=forked, block=block)) is wanted


def test_a_session_with_messages_and_no_transcript_is_a_fork(tmp_path: Path) -> None:
    assert lacks(tmp_path / f"{SESSION}.jsonl")


def test_a_pipe_in_the_place_of_a_transcript_is_not_waited_for(tmp_path: Path) -> None:
    file = tmp_path / f"{SESSION}.jsonl"
    os.mkfifo(file)

    assert lacks(file)
