"""Runs the benchmarks and writes their figures into ``docs/performance.md``.

From a checkout with the development dependencies installed::

    python tests/benchmarks/report.py

Further arguments go to pytest: a file, to run only some of them; the table then holds
only those. The page is written even when a benchmark fails, and says which.
"""

from __future__ import annotations

import ast
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PAGE = HERE.parents[1] / "docs/performance.md"
BEGIN, END = "<!-- figures -->", "<!-- end of figures -->"

Record = dict[str, Any]


def main(arguments: list[str]) -> int:
    """Run the benchmarks, write the page, and return pytest's exit code."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "record.jsonl"
        file.touch()
        command = [sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider"]
        done = subprocess.run(
            [*command, *(arguments or [str(HERE)])],
            cwd=HERE.parents[1],
            env={**os.environ, "HINDNOTE_BENCH_RECORD": str(file)},
            check=False,
        )
        records = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    text = PAGE.read_text("utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}\n\n{figures(records)}\n\n{END}{after}", "utf-8")
    return done.returncode


def figures(records: list[Record]) -> str:
    """Return the tables, one for each file of benchmarks."""
    parts = [machine()]
    for name, group in groupby(records, lambda record: str(record["test"]).partition("::")[0]):
        rows = ["| | seen | holds |", "| --- | --- | --- |", *map(row, group)]
        parts.append(f"### {title(HERE / Path(name).name)}\n\n" + "\n".join(rows))
    return "\n\n".join(parts)


def machine() -> str:
    """Return a sentence about where the figures were seen."""
    ripgrep = shutil.which("rg")
    told = "none"
    if ripgrep:
        asked = subprocess.run([ripgrep, "--version"], capture_output=True, text=True, check=True)
        told = asked.stdout.split()[1]
    return (
        f"Measured on {datetime.now(UTC):%Y-%m-%d}, Python {platform.python_version()}, "
        f"{platform.system()} on {os.cpu_count()} processors that other work shared, ripgrep {told}."
    )


def title(file: Path) -> str:
    """Return the first line of a file's docstring, without its full stop."""
    documented = ast.get_docstring(ast.parse(file.read_text("utf-8"))) or file.stem
    return documented.splitlines()[0].rstrip(".")


def row(record: Record) -> str:
    """Return a benchmark as a row of a table."""
    name, _, parameters = str(record["test"]).partition("::")[2].partition("[")
    promise = name.removeprefix("test_").replace("_", " ")
    if parameters:
        promise += f" ({parameters.removesuffix(']')})"
    holds = {"passed": "yes", "failed": "**no**"}.get(record["outcome"], record["outcome"])
    said = "<br>".join(re.sub(r"\s+", " ", line).replace("|", "\\|") for line in record["said"])
    return f"| {promise} | {said} | {holds} |"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
