"""The set-up of a shared home, run as the page tells it, against a server of the tests' own."""

from __future__ import annotations

import os
import pty
import re
import select
import sys
from pathlib import Path

import pytest
from console import DOCS
from postgres import PASSWORD, Cluster

ROOT = DOCS.parent
OWN = "theirs-8d2e"
"""The password that the person chooses; no output of hindnote may contain it."""

HINDNOTE = """#!{python}
import sys
from pathlib import Path
from hindnote.core.cli import main
from hindnote.core.places import home, project, trust
for module in (home, project, trust):
    module.person_home = lambda: Path({home!r})
main()
"""


def setup_commands() -> list[str]:
    block = (DOCS / "shared.md").read_text("utf-8").split("## Set up", 1)[1].split("```")[1]
    return re.findall(r"^\$ (.+)$", block, re.MULTILINE)


def in_terminal(command: str, answers: dict[str, str], environment: dict[str, str]) -> str:
    """Run a command in a terminal of its own, and answer what it asks."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execvpe("bash", ["bash", "-c", command], environment)
    printed = ""
    left = dict(answers)
    while True:
        if not select.select([terminal], [], [], 60)[0]:
            pytest.fail(f"waits for ever: {printed}")
        try:
            data = os.read(terminal, 4096)
        except OSError:
            break
        if not data:
            break
        printed += data.decode(errors="replace")
        for question in [one for one in left if one in printed]:
            os.write(terminal, f"{left.pop(question)}\n".encode())
    os.close(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0, printed
    return printed


def test_five_lines_set_up_a_shared_home(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install, init, role, variable, trust = setup_commands()
    assert install == "pip install 'hindnote[postgres]'"
    assert "postgres = [" in (ROOT / "pyproject.toml").read_text("utf-8")
    programs = tmp_path / "bin"
    programs.mkdir()
    program = programs / "hindnote"
    program.write_text(HINDNOTE.format(python=sys.executable, home=str(tmp_path)))
    program.chmod(0o755)
    passwords = tmp_path / "pgpass"
    passwords.write_text(f"*:*:*:admin:{PASSWORD}\n*:*:*:grace:{OWN}\n")
    passwords.chmod(0o600)
    environment = {
        **os.environ,
        "PATH": f"{programs}:{cluster.bin}:{os.environ['PATH']}",
        "PGPASSFILE": str(passwords),
        "PGPORT": str(cluster.port),
    }
    environment.pop("CLAUDECODE", None)
    monkeypatch.chdir(tmp_path)

    def run(command: str, **answers: str) -> str:
        command = command.replace("db.example", "127.0.0.1").replace("team", "page")
        command = command.replace("ada", "grace")
        return in_terminal(command, answers, environment)

    cluster.sql("CREATE DATABASE page")
    printed = run(init)
    run(role, **{"Enter password": OWN, "again": OWN})
    printed += run(f"{variable}; {trust}", **{"Trust it?": "y"})
    write = """hindnote call notes_write '{"address": "@project/a", "content": "x"}'"""
    printed += run(f"{variable}; {write}")
    printed += run(f"{variable}; hindnote notes log @project/a")

    assert "created @project/a.md" in printed
    assert "grace on" in printed
    assert PASSWORD not in printed
    assert OWN not in printed
