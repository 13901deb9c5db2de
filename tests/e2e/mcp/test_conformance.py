"""The official conformance suite of the protocol, as far as it applies to a server of tools.

It speaks HTTP alone, so a bridge stands between. Its other scenarios ask for tools,
resources and prompts of certain names, or for what only HTTP has.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from bridge import bridge


@pytest.mark.parametrize("version", ["2025-06-18", "2025-11-25"])
@pytest.mark.parametrize("scenario", ["server-initialize", "ping", "tools-list"])
def test_the_official_suite_passes(
    scenario: str, version: str, host_modules: Path, node: Path, tmp_path: Path
) -> None:
    script = host_modules / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
    with bridge(tmp_path) as address:
        done = subprocess.run(
            [str(node / "node"), str(script), "server", "--url", address]
            + ["--scenario", scenario, "--spec-version", version],
            cwd=tmp_path,
            env={"HOME": str(tmp_path), "PATH": f"{node}{os.pathsep}/usr/bin:/bin"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 failed" in done.stdout, done.stdout
