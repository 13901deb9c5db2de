"""The kit is run by name, without a test file of the host's author."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from hindnote.testing import CHECKS

EXAMPLE = Path(__file__).parents[1] / "data" / "third_party_host" / "src"


def kit(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Run the kit where every warning is an error."""
    return subprocess.run(
        [
            *(sys.executable, "-W", "error", "-m", "pytest", "-q", "-p", "no:cacheprovider"),
            *("--basetemp", str(folder / "scratch"), "-p", "hindnote.testing.plugin"),
            *("--pyargs", "hindnote.testing.suite", *options),
        ],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(EXAMPLE)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_the_kit_runs_by_name_without_a_warning(tmp_path: Path) -> None:
    done = kit(tmp_path, "--hindnote-writer", "logbook.testing:Writer")

    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(CHECKS)} passed" in done.stdout
    assert "warning" not in done.stdout.lower()


def test_a_run_without_a_writer_says_what_to_give(tmp_path: Path) -> None:
    done = kit(tmp_path)

    assert done.returncode == 1
    assert "give --hindnote-writer MODULE:NAME, your SessionWriter" in done.stdout
