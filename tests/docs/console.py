"""Runs the console blocks of a page that are marked with ``<!-- run -->``.

All blocks of a page run in order in one scratch home. ``hindnote`` runs in this
process, everything else in a shell. ``…`` in what a block shows stands for anything.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from click.testing import CliRunner

from hindnote.core.cli.app import make_app

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
RECORDED = ROOT / "tests" / "data" / "pi" / "branch-root.jsonl"

_BLOCK = re.compile(r"^<!-- run -->\n+```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass
class Step:
    """One command and what the page shows of it."""

    command: str
    shown: str


def steps(page: str) -> Iterator[Step]:
    """Yield the marked commands of a page, in order."""
    for block in _BLOCK.findall(page):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, shown = part.partition("\n")
            while shown.startswith("> "):
                line, _, shown = shown[2:].partition("\n")
                command += "\n" + line
            yield Step(command, shown.rstrip("\n"))


class Scratch:
    """A home with a project in it and one recorded session of Pi."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.project = self.home / "ship"
        sessions = self.home / ".pi" / "agent" / "sessions" / "--ship--"
        sessions.mkdir(parents=True)
        (self.project / ".git").mkdir(parents=True)
        self.session = sessions / "session.jsonl"
        shutil.copyfile(RECORDED, self.session)
        self.env = {
            "HOME": str(self.home),
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "SESSION": str(self.session),
        }

    def run(self, command: str) -> str:
        """Return what a command prints, to both streams."""
        if not command.startswith("hindnote "):
            return self._shell(command)
        words = shlex.split(command.replace("$SESSION", str(self.session)))
        given = None
        if "<" in words[-2:]:
            given = (self.project / words.pop()).read_bytes()
            words.pop()
        result = CliRunner().invoke(make_app(), words[1:], input=given, env=self.env)
        assert result.exception is None or isinstance(result.exception, SystemExit), result
        return result.output.rstrip("\n")

    def _shell(self, command: str) -> str:
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=self.project,
            env=self.env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=60,
            check=False,
        )
        return done.stdout.rstrip("\n")


def matches(shown: str, printed: str) -> bool:
    """Return whether a page shows what was printed."""
    parts = (re.escape(part) for part in shown.split("…"))
    return re.fullmatch(".*?".join(parts), printed, re.DOTALL) is not None
