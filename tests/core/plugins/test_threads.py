"""What may be called at the same time, as the contract says."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from good_host import Good

from hindnote import HostCall, HostIdentity, hookimpl
from hindnote.core.plugins.hosts import Hosts

THREADS = 4
PATIENCE = 20.0


def test_one_hook_of_a_plugin_is_called_by_several_threads_with_a_call_of_their_own(
    tmp_path: Path,
) -> None:
    """The hook returns only once all threads are in it, so calls that took turns would time out."""
    together = threading.Barrier(THREADS, timeout=PATIENCE)

    class Meeting(Good):
        @hookimpl
        def host_identity(self, call: HostCall) -> HostIdentity:
            together.wait()
            return HostIdentity(host="good", session_id=call.session_id, agent="a", model="m")

    hosts = Hosts.of({"good": Meeting()})
    calls = [HostCall(host="good", session_id=f"s{n}", cwd=tmp_path) for n in range(THREADS)]

    with ThreadPoolExecutor(THREADS) as pool:
        told = list(pool.map(hosts.identity, calls))

    assert [one.session_id for one in told] == ["s0", "s1", "s2", "s3"]


def test_threads_that_ask_for_a_plugin_before_it_is_imported_are_all_answered(
    install: Callable[..., None], tmp_path: Path
) -> None:
    install("acme-host", "acme", "hindnote_test_acme")
    hosts = Hosts.load()
    together = threading.Barrier(THREADS, timeout=PATIENCE)

    def ask(number: int) -> Any:
        together.wait()
        return hosts.identity(HostCall(host="acme", cwd=tmp_path)).host

    with ThreadPoolExecutor(THREADS) as pool:
        assert list(pool.map(ask, range(THREADS))) == ["acme"] * THREADS
