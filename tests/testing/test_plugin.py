"""The kit is run by name, without a test file of the host's author."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from hindnote.testing import CHECKS

EXAMPLE = Path(__file__).parents[1] / "data" / "third_party_host" / "src"
PLUGIN = ("-p", "hindnote.testing.plugin")


def kit(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Run the kit where every warning is an error."""
    return subprocess.run(
        [
            *(sys.executable, "-W", "error", "-m", "pytest", "-q", "-p", "no:cacheprovider"),
            *("--basetemp", str(folder / "scratch")),
            *("--pyargs", "hindnote.testing.suite", *options),
        ],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(EXAMPLE)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.usefixtures("measured")
def test_the_kit_runs_by_name_without_a_warning(tmp_path: Path) -> None:
    done = kit(tmp_path, *PLUGIN, "--hindnote-writer", "logbook.testing:Writer")

    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(CHECKS)} passed" in done.stdout
    assert "warning" not in done.stdout.lower()


@pytest.mark.usefixtures("measured")
@pytest.mark.parametrize(
    ("options", "told"),
    [
        ((), "give -p hindnote.testing.plugin --hindnote-writer MODULE:NAME, your SessionWriter"),
        (PLUGIN, "give -p hindnote.testing.plugin --hindnote-writer MODULE:NAME"),
        ((*PLUGIN, "--hindnote-writer", "logbook.testing"), "--hindnote-writer MODULE:NAME"),
        ((*PLUGIN, "--hindnote-writer", "logbook.none:Writer"), "No module named 'logbook.none'"),
        ((*PLUGIN, "--hindnote-writer", "logbook.testing:None_"), "has no attribute 'None_'"),
    ],
)
def test_a_run_without_a_writer_is_one_error_that_says_what_to_give(
    tmp_path: Path, options: tuple[str, ...], told: str
) -> None:
    done = kit(tmp_path, *options)

    said = done.stdout + done.stderr
    assert done.returncode == pytest.ExitCode.USAGE_ERROR, said
    assert told in said
    assert said.count("hindnote-writer") == 1
    assert "Traceback" not in said
