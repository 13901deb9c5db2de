"""Measurements in other processes, and a record of what every benchmark said."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

# What the benchmarks share is imported under its own name.
sys.path.insert(0, str(Path(__file__).parent))

RECORD = "HINDNOTE_BENCH_RECORD"
"""Environment variable that names the file for the record, one JSON object a line."""

Measure = Callable[..., dict[str, Any]]


@pytest.fixture
def measure() -> Measure:
    """Return a function that runs a scenario of ``measure.py`` over a folder of sessions."""

    def run(scenario: str, folder: Path, **environment: str) -> dict[str, Any]:
        done = subprocess.run(
            [sys.executable, str(Path(__file__).with_name("measure.py")), scenario, str(folder)],
            env={
                **os.environ,
                "PI_CODING_AGENT_SESSION_DIR": str(folder),
                "PI_CODING_AGENT_DIR": str(folder / "none"),
                "XDG_CACHE_HOME": str(folder / "cache"),
                "HINDNOTE_SEARCH_SECONDS": "600",
                **environment,
            },
            capture_output=True,
            text=True,
            timeout=900,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        figures: dict[str, Any] = json.loads(done.stdout)
        return figures

    return run


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Record a benchmark with its outcome and the lines that it wrote."""
    file = os.environ.get(RECORD)
    if file is None or (report.when != "call" and not report.skipped):
        return
    said = [line for line in (report.capstderr + report.capstdout).splitlines() if line.strip()]
    if report.skipped and isinstance(report.longrepr, tuple):
        said = [report.longrepr[2]]
    one = {"test": report.nodeid, "outcome": report.outcome, "said": said}
    with Path(file).open("a", encoding="utf-8") as out:
        out.write(json.dumps(one) + "\n")
