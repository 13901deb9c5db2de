"""The boot block of an agent whose notes are in a database."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from postgres import PASSWORD, Cluster

pytest.importorskip("psycopg", reason="needs psycopg (hindnote[postgres])")

from hindnote.core.call import Dispatcher
from hindnote.core.places.database_home import DatabaseHome
from hindnote.core.places.home import NotesHome
from hindnote.core.plugins.hosts import Hosts
from hindnote.core.plugins.models import HostCall
from hindnote.hosts.pi import plugin


def boot(url: str, cwd: Path) -> str:
    home = NotesHome(Path(), database=DatabaseHome(url))
    dispatcher = Dispatcher(Hosts.load({"pi": plugin}), home)
    text = dispatcher.boot(HostCall(host="pi", cwd=cwd, config_dir=cwd))
    assert PASSWORD not in text
    return text


def write(url: str, cwd: Path, address: str, content: str) -> None:
    home = NotesHome(Path(), database=DatabaseHome(url))
    call = HostCall(host="pi", cwd=cwd, config_dir=cwd)
    arguments = {"address": address, "content": content}
    assert (
        not Dispatcher(Hosts.load({"pi": plugin}), home)
        .call(call, "notes_write", arguments)
        .is_error
    )


def test_the_block_says_who_last_wrote_a_map_that_others_can_write(
    team: Cluster, tmp_path: Path
) -> None:
    ada, ben = team.url("team", "ada"), team.url("team", "ben")
    write(ada, tmp_path, "@project/MAP", "Ada's\n")
    write(ben, tmp_path, "@project/MAP", "Ben's\n")
    write(ada, tmp_path, "@human/MAP", "My own\n")

    text = boot(ada, tmp_path)

    assert f"@project/MAP.md, last written by ben on {socket.gethostname()}:\nBen's" in text
    assert "@human/MAP.md:\nMy own" in text
    assert "My own" not in boot(ben, tmp_path)


@pytest.fixture
def silent() -> Iterator[int]:
    """The port of a server that takes connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_the_block_waits_no_longer_than_a_second_and_says_so_in_one_line(
    tmp_path: Path, silent: int
) -> None:
    boot(f"postgresql://ada:{PASSWORD}@127.0.0.1:1/team", tmp_path)
    started = time.monotonic()

    text = boot(f"postgresql://ada:{PASSWORD}@127.0.0.1:{silent}/team", tmp_path)

    assert time.monotonic() - started < 1.5
    [line] = [line for line in text.splitlines() if "Notes cannot be used" in line]
    assert "did not answer in time" in line
