"""What a plugin prints reaches none of the programs that speak a protocol on our standard output."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from programs import QUERY, Search, command_line, mcp, one_shot, pi, resident, search_command

NOISE = """
import os, subprocess, sys
from pathlib import Path
from hindnote import HostIdentity, SessionEntry, hookimpl

def noise(where):
    print("NOISE print", where)
    sys.stdout.flush()
    os.write(1, f"NOISE write {where}\\n".encode())
    sys.__stdout__.write(f"NOISE stdout {where}\\n")
    sys.__stdout__.flush()
    subprocess.run([sys.executable, "-c", f"print('NOISE child', {where!r})"], check=True)
    os.system(f"echo NOISE shell {where}")

noise("import")

@hookimpl
def host_base_cwd(call):
    noise("base_cwd")
    return call.cwd

@hookimpl
def host_identity(call):
    noise("identity")
    return HostIdentity(host="noisy", session_id=None, agent="a", model="m")

@hookimpl
def host_projection(call, session):
    noise("projection")
    return None

@hookimpl
def host_sessions(call):
    noise("sessions")
    yield SessionEntry(host="noisy", id="n", file=Path("/nowhere"))
    noise("a session")
"""


@pytest.fixture
def noisy(tmp_path: Path, environment: dict[str, str]) -> dict[str, str]:
    """The environment of a process in which a plugin that prints is installed."""
    site = tmp_path / "site"
    info = site / "noisy-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: noisy\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[hindnote.hosts]\nnoisy = noisy\n")
    (site / "noisy.py").write_text(NOISE)
    path = os.pathsep.join(filter(None, (str(site), os.environ.get("PYTHONPATH"))))
    return {**environment, "PYTHONPATH": path}


@pytest.mark.parametrize("search", [one_shot, resident, mcp, pi, command_line, search_command])
def test_a_plugin_that_prints_in_every_way_damages_no_answer(
    search: Search, tmp_path: Path, noisy: dict[str, str]
) -> None:
    found: dict[str, Any] = search(tmp_path, noisy, QUERY)

    assert len(found["items"]) == 6, found
    assert "NOISE" not in str(found)
