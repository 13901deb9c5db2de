"""What ``import hindnote`` costs, beside what a user of pydantic pays anyway."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

from yardstick import SMOKE

ROUNDS = 1 if SMOKE else 15

LIMIT = 1.2


def seconds(code: str) -> float:
    started = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
    return time.perf_counter() - started


def test_importing_hindnote_costs_at_most_a_fifth_more_than_pydantic() -> None:
    """Processes alternate, so that a busy machine slows both alike."""
    ours, baseline = [], []
    for _ in range(ROUNDS):
        baseline.append(seconds("from pydantic import BaseModel"))
        ours.append(seconds("import hindnote"))

    ratio = statistics.median(ours) / statistics.median(baseline)

    sys.stderr.write(f"import hindnote: {ratio:.2f} times importing pydantic\n")
    assert SMOKE or ratio <= LIMIT
