"""Distributions that a test installs, with what they offer through entry points."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

HOST = """
from hindnote import HostIdentity, hookimpl

@hookimpl
def host_base_cwd(call):
    return call.cwd

@hookimpl
def host_identity(call):
    return HostIdentity(host={slug!r}, session_id=None, agent="a", model="m")

@hookimpl
def host_projection(call, session):
    return None
"""


@pytest.fixture
def install(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., None]]:
    """Install a distribution of one module with one entry point, for one test.

    Without a source the module is a host that answers what it must. Modules are
    named ``hindnote_test_…``, so that they can be forgotten afterwards.
    """
    folder = tmp_path_factory.mktemp("site")
    monkeypatch.syspath_prepend(folder)
    before = set(sys.modules)

    def install(
        distribution: str,
        name: str,
        reference: str,
        source: str | None = None,
        group: str = "hindnote.hosts",
    ) -> None:
        info = folder / f"{distribution}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\n"
        )
        (info / "entry_points.txt").write_text(f"[{group}]\n{name} = {reference}\n")
        module = reference.partition(":")[0]
        text = HOST.format(slug=name) if source is None else source
        (folder / f"{module}.py").write_text(text)

    yield install
    for name in set(sys.modules) - before:
        if name.startswith("hindnote_test_"):
            del sys.modules[name]
