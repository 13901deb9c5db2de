"""The checks are plain functions: a host's author may run them by any means."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from hindnote.testing import CHECKS

SCRIPT = """
import sys
from pathlib import Path

sys.modules["pytest"] = None
sys.path[:0] = sys.argv[2:]

from hindnote.testing import CHECKS, Bench
from logbook.testing import Writer

for check in CHECKS:
    folder = Path(sys.argv[1]) / check.__name__
    folder.mkdir()
    check(Bench(Writer(), folder))
print(len(CHECKS), "passed")
"""

NEEDS = """
import sys

sys.modules["pytest"] = None
import hindnote.testing

try:
    hindnote.testing.HostConformance
except ImportError as error:
    print(error)
"""

EXAMPLE = Path(__file__).parents[1] / "data" / "third_party_host" / "src"


def run(script: str, *arguments: object) -> str:
    command = [sys.executable, "-c", script, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_the_checks_run_where_there_is_no_pytest(tmp_path: Path) -> None:
    assert run(SCRIPT, tmp_path, EXAMPLE) == f"{len(CHECKS)} passed\n"


@pytest.mark.usefixtures("measured")
def test_the_test_class_alone_needs_pytest() -> None:
    assert "pytest" in run(NEEDS)
