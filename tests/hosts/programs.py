"""Every program of ours that answers a search, started for real with few descriptors."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

MAIN = "from hindnote.core.cli import main; main()"
LIMIT = 64
"""Descriptors of the process. The smallest usual limit is 256, and a helper shares it."""

# Two letters: no file can be ruled out by its bytes, so each is decoded.
QUERY = {"session": "*", "query": ["qz"], "limit": 200}
ABOUT = {"session": "*", "about": "qz", "limit": 200}

Asked = dict[str, Any]
Search = Callable[[Path, dict[str, str], Asked], dict[str, Any]]


def nothing() -> None:
    """What happens between an answer and the program's end, unless a test says otherwise."""


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


def command_line(folder: Path, environment: dict[str, str], asked: Asked) -> dict[str, Any]:
    call = ["-c", MAIN, "call", "history_list", json.dumps(asked), "--structured"]
    found: dict[str, Any] = json.loads(run(call, b"", folder, environment))
    return found


def search_command(folder: Path, environment: dict[str, str], asked: Asked) -> dict[str, Any]:
    words = [asked["about"]] if "about" in asked else ["--literal", *asked["query"]]
    search = ["-c", MAIN, "search", "--json", *words]
    found: dict[str, Any] = json.loads(run(search, b"", folder, environment))
    return found


def claude_request(folder: Path, asked: Asked) -> bytes:
    request = {"kind": "call", "operation": "history_list", "arguments": asked}
    return json.dumps({**request, "call": {"cwd": str(folder)}}).encode()


def one_shot(folder: Path, environment: dict[str, str], asked: Asked) -> dict[str, Any]:
    answer = run(
        ["-m", "hindnote.hosts.claude"], claude_request(folder, asked), folder, environment
    )
    found: dict[str, Any] = json.loads(answer)["outcome"]["data"]
    return found


def resident(
    folder: Path,
    environment: dict[str, str],
    asked: Asked,
    meanwhile: Callable[[], None] = nothing,
) -> dict[str, Any]:
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
            body = claude_request(folder, asked)
            with socket.socket(socket.AF_UNIX) as asking:
                asking.connect(path)
                asking.settimeout(60)
                asking.sendall(b"POST / HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
                answer = b"".join(iter(lambda: asking.recv(65536), b""))
            meanwhile()
        finally:
            helper.terminate()
            helper.communicate()
    found: dict[str, Any] = json.loads(answer.partition(b"\r\n\r\n")[2])["outcome"]["data"]
    return found


def mcp(
    folder: Path,
    environment: dict[str, str],
    asked: Asked,
    meanwhile: Callable[[], None] = nothing,
) -> dict[str, Any]:
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
                "params": {"name": "history_list", "arguments": asked},
            },
        ):
            process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
            process.stdin.flush()
            if message.get("id"):
                answer = json.loads(process.stdout.readline())
        meanwhile()
    finally:
        process.stdin.close()
        process.wait(20)
        process.stdout.close()
    found: dict[str, Any] = answer["result"]["structuredContent"]
    return found


def pi(
    folder: Path,
    environment: dict[str, str],
    asked: Asked,
    meanwhile: Callable[[], None] = nothing,
) -> dict[str, Any]:
    request: dict[str, Any] = {"type": "call", "id": "1", "operation": "history_list"}
    request["arguments"] = asked
    request["host"] = {"cwd": str(folder), "sessionId": "s1", "agentDir": str(folder)}
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
        process.stdin.write(json.dumps(request).encode() + b"\n")
        process.stdin.flush()
        process.stdout.readline()
        answer = json.loads(process.stdout.readline())
        meanwhile()
    finally:
        process.stdin.close()
        process.wait(20)
        process.stdout.close()
    found: dict[str, Any] = answer["value"]["result"]
    return found
