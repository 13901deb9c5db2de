"""Searches through more sessions than a process may have descriptors, in every program of ours."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from programs import (
    ABOUT,
    QUERY,
    Asked,
    Search,
    command_line,
    mcp,
    one_shot,
    pi,
    resident,
    search_command,
)

from hindnote import HostCall
from hindnote.core.call import Dispatcher
from hindnote.core.plugins.hosts import Hosts
from hindnote.hosts.claude import plugin as claude_plugin
from hindnote.hosts.pi import plugin as pi_plugin

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="descriptors of Unix")


@pytest.mark.campaign
@pytest.mark.parametrize("asked", [QUERY, ABOUT], ids=["query", "about"])
@pytest.mark.parametrize("search", [command_line, search_command, one_shot, resident, mcp, pi])
def test_a_search_reads_every_session_with_few_descriptors(
    tmp_path: Path, environment: dict[str, str], session_count: int, search: Search, asked: Asked
) -> None:
    found = search(tmp_path, environment, asked)

    covered, remaining = found["sessions_covered"], found["sessions_remaining"]
    assert (covered, remaining) == (2 * session_count, 0), found
    assert "sessions_skipped" not in found
    assert len(found["items"]) == 2 * 3


@pytest.mark.parametrize("error", [OSError(errno.EMFILE, "Too many open files"), MemoryError()])
@pytest.mark.parametrize("where", ["catalogue", "session"])
@pytest.mark.parametrize("host", ["pi", "claude"])
def test_what_this_process_lacks_is_never_the_fault_of_a_session(
    tmp_path: Path,
    environment: dict[str, str],
    session_count: int,
    monkeypatch: pytest.MonkeyPatch,
    host: str,
    where: str,
    error: Exception,
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    dispatcher = Dispatcher(Hosts.of({"pi": pi_plugin, "claude": claude_plugin}), tmp_path / "n")
    call = HostCall(host=host, cwd=tmp_path)
    lacking = [where == "catalogue"]
    really = os.open

    def short(path: Any, *rest: Any, **more: Any) -> int:
        if lacking[0] and str(path).endswith(".jsonl"):
            raise error
        return really(path, *rest, **more)

    monkeypatch.setattr(os, "open", short)
    if where == "session":
        dispatcher.call(call, "history_list", {**QUERY, "query": ["nowhere to be found"]})
        lacking[0] = True

    answer = dispatcher.call(call, "history_list", {**QUERY, "session": f"{host}:*"})
    assert answer.result["code"] == "io_error", answer.text

    lacking[0] = False
    again = dispatcher.call(call, "history_list", {**QUERY, "session": f"{host}:*"})
    assert again.result["sessions_covered"] == session_count
    assert "sessions_skipped" not in again.result
