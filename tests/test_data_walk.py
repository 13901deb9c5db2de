"""Two typical calls enter no more files than a reader can follow."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

MOST = {"history_list": 44, "notes_update": 43}
"""Files, as they are; the number may fall, and grows only for a reason."""


def test_calls_enter_as_few_files_as_they_did() -> None:
    printed = subprocess.run(
        [sys.executable, ROOT / "tests" / "data_walk.py"],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    ).stdout
    entered = {
        name: int(rest.split()[0])
        for name, _, rest in (line.partition(": ") for line in printed.splitlines())
        if not name.startswith(" ")
    }

    assert entered.keys() == MOST.keys()
    assert all(entered[name] <= MOST[name] for name in MOST), printed
