"""Searches through more sessions than a process may have descriptors, in every program of ours."""

from __future__ import annotations

import errno
import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hindnote import HostCall
from hindnote.core.call import Dispatcher
from hindnote.core.plugins.hosts import Hosts
from hindnote.hosts.claude import plugin as claude_plugin
from hindnote.hosts.pi import plugin as pi_plugin

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="descriptors of Unix")

MAIN = "from hindnote.core.cli import main; main()"
SESSIONS = 150
LIMIT = 64
"""Descriptors of the process. The smallest usual limit is 256, and a helper shares it."""

# Two letters: no file can be ruled out by its bytes, and every session holds them.
QUERY = {"session": "*", "query": ["qz"], "limit": 200}

Search = Callable[[Path, dict[str, str]], dict[str, Any]]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    projects = tmp_path / "claude" / "projects" / "-w"
    sessions = tmp_path / "pi"
    projects.mkdir(parents=True)
    sessions.mkdir()
    for number in range(SESSIONS):
        text = "qz" if number % 50 == 0 else "nothing"
        id_ = f"{number:08d}-bbbb-4ccc-8ddd-eeeeeeeeeeee"
        row = {"parentUuid": None, "type": "user", "uuid": f"u{number}", "sessionId": id_}
        row |= {"cwd": "/w", "timestamp": "2026-11-30T09:00:00.000Z"}
        row["message"] = {"role": "user", "content": text}
        (projects / f"{id_}.jsonl").write_text(json.dumps(row) + "\n")
        header = {"type": "session", "version": 3, "id": f"{number:08d}", "cwd": "/w"}
        entry = {"type": "message", "id": f"e{number}", "parentId": None}
        entry["message"] = {"role": "user", "content": text}
        lines = f"{json.dumps(header)}\n{json.dumps(entry)}\n"
        (sessions / f"2026-11-30T09-00-00-000Z_{number:08d}.jsonl").write_text(lines)
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "CLAUDE_CONFIG_DIR": str(tmp_path / "claude"),
        "PI_CODING_AGENT_SESSION_DIR": str(sessions),
        "HINDNOTE_HOME": str(tmp_path / "notes"),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
    }


def limited(*arguments: str) -> list[str]:
    """Return the command that runs Python with few descriptors."""
    return ["/bin/sh", "-c", f'ulimit -n {LIMIT} && exec "$@"', "sh", sys.executable, *arguments]


def run(arguments: list[str], given: bytes, folder: Path, environment: dict[str, str]) -> bytes:
    done = subprocess.run(
        limited(*arguments),
        input=given,
        capture_output=True,
        env=environment,
        cwd=folder,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def command_line(folder: Path, environment: dict[str, str]) -> dict[str, Any]:
    call = ["-c", MAIN, "call", "history_list", json.dumps(QUERY), "--structured"]
    found: dict[str, Any] = json.loads(run(call, b"", folder, environment))
    return found


def claude_request(folder: Path) -> bytes:
    asked = {"kind": "call", "operation": "history_list", "arguments": QUERY}
    return json.dumps({**asked, "call": {"cwd": str(folder)}}).encode()


def one_shot(folder: Path, environment: dict[str, str]) -> dict[str, Any]:
    answer = run(["-m", "hindnote.hosts.claude"], claude_request(folder), folder, environment)
    found: dict[str, Any] = json.loads(answer)["outcome"]["data"]
    return found


def resident(folder: Path, environment: dict[str, str]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="hl-") as short:
        path = f"{short}/hindnote-1/s"
        helper = subprocess.Popen(
            limited("-m", "hindnote.hosts.claude", "serve", "--socket", path),
            stdout=subprocess.PIPE,
            env=environment,
            cwd=folder,
        )
        try:
            assert helper.stdout is not None
            assert helper.stdout.readline() == b"ready\n"
            body = claude_request(folder)
            with socket.socket(socket.AF_UNIX) as asking:
                asking.connect(path)
                asking.settimeout(60)
                asking.sendall(b"POST / HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
                answer = b"".join(iter(lambda: asking.recv(65536), b""))
        finally:
            helper.terminate()
            helper.communicate()
    found: dict[str, Any] = json.loads(answer.partition(b"\r\n\r\n")[2])["outcome"]["data"]
    return found


def mcp(folder: Path, environment: dict[str, str]) -> dict[str, Any]:
    pytest.importorskip("mcp")
    about = {"protocolVersion": "2025-06-18", "capabilities": {}}
    about["clientInfo"] = {"name": "test", "version": "1"}
    process = subprocess.Popen(
        limited("-c", MAIN, "mcp", "--history-of", "claude"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
        cwd=folder,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        for message in (
            {"id": 1, "method": "initialize", "params": about},
            {"method": "notifications/initialized"},
            {
                "id": 2,
                "method": "tools/call",
                "params": {"name": "history_list", "arguments": QUERY},
            },
        ):
            process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
            process.stdin.flush()
            if message.get("id"):
                answer = json.loads(process.stdout.readline())
    finally:
        process.stdin.close()
        process.wait(20)
        process.stdout.close()
    found: dict[str, Any] = answer["result"]["structuredContent"]
    return found


def pi(folder: Path, environment: dict[str, str]) -> dict[str, Any]:
    asked = {"type": "call", "id": "1", "operation": "history_list", "arguments": QUERY}
    asked["host"] = {"cwd": str(folder), "sessionId": "s1", "agentDir": str(folder)}
    process = subprocess.Popen(
        limited("-m", "hindnote.hosts.pi"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
        cwd=folder,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(json.dumps(asked).encode() + b"\n")
        process.stdin.flush()
        process.stdout.readline()
        answer = json.loads(process.stdout.readline())
    finally:
        process.stdin.close()
        process.wait(20)
        process.stdout.close()
    found: dict[str, Any] = answer["value"]["result"]
    return found


@pytest.mark.parametrize("search", [command_line, one_shot, resident, mcp, pi])
def test_a_search_reads_every_session_with_few_descriptors(
    tmp_path: Path, environment: dict[str, str], search: Search
) -> None:
    found = search(tmp_path, environment)

    covered, remaining = found["sessions_covered"], found["sessions_remaining"]
    assert (covered, remaining) == (2 * SESSIONS, 0), found
    assert "sessions_skipped" not in found
    assert len(found["items"]) == 2 * 3


@pytest.mark.parametrize("error", [OSError(errno.EMFILE, "Too many open files"), MemoryError()])
@pytest.mark.parametrize("where", ["catalogue", "session"])
@pytest.mark.parametrize("host", ["pi", "claude"])
def test_what_this_process_lacks_is_never_the_fault_of_a_session(
    tmp_path: Path,
    environment: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    host: str,
    where: str,
    error: Exception,
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    dispatcher = Dispatcher(Hosts.of({"pi": pi_plugin, "claude": claude_plugin}), tmp_path / "n")
    call = HostCall(host=host, cwd=tmp_path)
    lacking = [where == "catalogue"]
    really = os.open

    def short(path: Any, *rest: Any, **more: Any) -> int:
        if lacking[0] and str(path).endswith(".jsonl"):
            raise error
        return really(path, *rest, **more)

    monkeypatch.setattr(os, "open", short)
    if where == "session":
        dispatcher.call(call, "history_list", {**QUERY, "query": ["nowhere to be found"]})
        lacking[0] = True

    answer = dispatcher.call(call, "history_list", {**QUERY, "session": f"{host}:*"})
    assert answer.result["code"] == "io_error", answer.text

    lacking[0] = False
    again = dispatcher.call(call, "history_list", {**QUERY, "session": f"{host}:*"})
    assert again.result["sessions_covered"] == SESSIONS
    assert "sessions_skipped" not in again.result
