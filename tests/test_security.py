"""SECURITY.md: what it says of the files that others can put in the way has tests."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "SECURITY.md").read_text("utf-8")
ROWS = [line.split(" | ") for line in TEXT.splitlines() if line.startswith("| ")][2:]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0][2:40])
def test_each_row_names_tests_that_are_there(row: list[str]) -> None:
    assert len(row) == 4
    named = re.findall(r"`(tests/[^`]+)`", row[3])

    assert named
    assert [name for name in named if not (ROOT / name).is_file()] == []


def test_each_promise_names_tests_that_are_there() -> None:
    section = TEXT.partition("Against them hindnote protects:")[2].partition("\n## ")[0]
    bullets = re.findall(r"^- .*(?:\n  .*)*", section, re.MULTILINE)

    assert len(bullets) > 5
    for bullet in bullets:
        assert re.findall(r"`(tests/[^`]+)`", bullet), bullet
    missing = [n for n in re.findall(r"`(tests/[^`]+)`", TEXT) if not (ROOT / n).is_file()]
    assert missing == []


@pytest.mark.parametrize(
    "asked",
    ["What is protected, from whom", "What is not protected", "Report a vulnerability"],
)
def test_it_says_what_a_person_looks_for(asked: str) -> None:
    assert f"## {asked}\n" in TEXT


def test_every_variable_that_the_program_reads_is_in_it() -> None:
    """One that is read and not listed has not been thought about."""
    harmless = {
        "HINDNOTE_PROJECT_TOOLS",  # which tools are offered: one of a few words
        "HINDNOTE_SEARCH_SECONDS",  # a number
    }
    sources = [
        path
        for folder in ("core", "hosts")
        for suffix in ("py", "ts")
        for path in (ROOT / folder).rglob(f"*.{suffix}")
        if "tests" not in path.parts
    ]
    read = {
        name
        for path in sources
        for name in re.findall(r"\bHINDNOTE_[A-Z_]*[A-Z]\b", path.read_text("utf-8"))
    }

    assert sorted(name for name in read - harmless if name not in TEXT) == []


# -- what the page promises of the whole program -------------------------------------

NETWORK = {"ssl", "ftplib", "smtplib", "imaplib", "poplib", "xmlrpc", "socketserver", "aiohttp"}
DATABASE = {"psycopg"}
NETWORK |= DATABASE | {
    "http.client",
    "http.server",
    "urllib.request",
    "requests",
    "httpx",
    "websockets",
}
SOURCES = [path for folder in ("core", "hosts") for path in (ROOT / folder).rglob("*.py")]


def imported(path: Path) -> set[str]:
    """Return the modules that a file imports, wherever in it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{name.name}" for name in node.names)}
    return found


def test_nothing_imports_what_speaks_over_a_network() -> None:
    speaking = {
        str(path.relative_to(ROOT)): found
        for path in SOURCES
        if (found := imported(path) & NETWORK)
    }
    assert {name for name in speaking if not name.startswith("core/database/")} == {
        "core/places/database_home.py"  # asks whether it is installed
    }
    assert set().union(*speaking.values()) == DATABASE


def test_the_only_sockets_are_those_of_claude_code_s_helper_and_of_the_pages_on_loopback() -> None:
    using = {path for path in SOURCES if "socket" in imported(path)}
    pages = ROOT / "core/browse/serving.py"

    assert {path.parent for path in using} == {ROOT / "hosts" / "claude", pages.parent}
    serving = pages.read_text("utf-8")
    assert re.findall(r"\bbind\(\((\w+),", serving) == ["LOOPBACK"]
    assert 'LOOPBACK = "127.0.0.1"' in serving
    for path in using - {pages}:
        assert not re.search(r"AF_INET|create_connection|create_server", path.read_text("utf-8"))
    scripts = [*(ROOT / "hosts").rglob("*.ts")]
    shipped = [path for path in scripts if not {"tests", "node_modules"} & set(path.parts)]
    assert shipped
    for path in shipped:
        text = path.read_text("utf-8")
        assert not re.search(r"node:(https?|net|tls|dgram|dns)|WebSocket|XMLHttpRequest", text), (
            path
        )
        # The helper's address is a Unix socket's.
        for call in re.findall(r"\.fetch\(.*", text):
            assert "socketPath" in call or "(url, init)" in call, (path, call)


PYTHON = (sys.executable, "-c", "from hindnote.core.cli import main; main()")
SECRET = "hunter2-correct-horse"


@pytest.fixture
def world(tmp_path: Path) -> dict[str, str]:
    """Return the environment of a person with sessions, and with a secret in it."""
    (tmp_path / "pi").mkdir()
    (tmp_path / "work").mkdir()
    recorded = ROOT / "tests/data/pi/unicode.jsonl"
    shutil.copy(recorded, tmp_path / "pi" / "2026-11-30T09-50-59-947Z_unicode.jsonl")
    (tmp_path / "claude/projects/-w").mkdir(parents=True)
    shutil.copy(ROOT / "tests/data/claude/branch.jsonl", tmp_path / "claude/projects/-w")
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "CLAUDE_CONFIG_DIR": str(tmp_path / "claude"),
        "PI_CODING_AGENT_SESSION_DIR": str(tmp_path / "pi"),
        "HINDNOTE_HOME": str(tmp_path / "notes"),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "SOME_API_KEY": SECRET,
    }


ASKED: tuple[tuple[str, ...], ...] = (
    ("sessions",),
    ("search", "the"),
    ("search", "--literal", "e"),
    ("call", "history_list", '{"session": "*"}', "--structured"),
    ("call", "notes_write", '{"address": "@human/x", "content": "x"}'),
    ("call", "notes_write", '{"address": 7}'),
    ("doctor", "--sessions"),
    ("no-such-command",),
)


def test_what_hosts_recorded_is_only_read_and_no_secret_of_the_environment_is_told(
    tmp_path: Path, world: dict[str, str]
) -> None:
    def recorded() -> dict[str, tuple[int, int, bytes]]:
        files = [one for name in ("pi", "claude") for one in (tmp_path / name).rglob("*")]
        return {
            str(file): (status.st_mtime_ns, status.st_mode, file.read_bytes())
            for file in files
            if (status := file.stat()) and file.is_file()
        }

    before = recorded()
    told = [
        subprocess.run(
            command, env=world, cwd=tmp_path / "work", capture_output=True, input=b"{", check=False
        )
        for command in (
            *((*PYTHON, *words) for words in ASKED),
            (sys.executable, "-m", "hindnote.hosts.claude"),
            (sys.executable, "-m", "hindnote.hosts.pi"),
        )
    ]

    assert recorded() == before
    assert all(one.stdout or one.stderr for one in told[:-1])
    assert not any(SECRET.encode() in one.stdout + one.stderr for one in told)
    made = {path.name for path in tmp_path.iterdir()}
    assert made == {"pi", "claude", "work", "notes", "cache"}
