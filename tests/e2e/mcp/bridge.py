"""``hindnote mcp`` behind Streamable HTTP on loopback, for a suite that speaks nothing else.

Each greeting starts a server of its own; a request is one line to it, and its answer one
line back. Nothing is added and nothing is changed on the way.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

SERVER = [sys.executable, "-c", "from hindnote.core.cli import main; main()", "mcp"]


class _Bridge(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, folder: Path) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.folder = folder
        self.servers: dict[str, subprocess.Popen[bytes]] = {}
        self.lock = threading.Lock()

    def start(self) -> str:
        name = uuid.uuid4().hex
        options = ["--home", str(self.folder / "notes"), "--cwd", str(self.folder)]
        pipe = subprocess.PIPE
        self.servers[name] = subprocess.Popen([*SERVER, *options], stdin=pipe, stdout=pipe)
        return name

    def end(self) -> None:
        for server in self.servers.values():
            assert server.stdin
            assert server.stdout
            server.stdin.close()
            server.wait(30)
            server.stdout.close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Bridge

    def log_message(self, *_: Any) -> None:
        """Keep the test's output clean."""

    def do_GET(self) -> None:
        self._send(405, b"")

    def do_DELETE(self) -> None:
        self._send(405, b"")

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        name = self.headers.get("mcp-session-id") or self.server.start()
        server = self.server.servers[name]
        assert server.stdin
        assert server.stdout
        with self.server.lock:
            server.stdin.write(json.dumps(message).encode() + b"\n")
            server.stdin.flush()
            answer = server.stdout.readline() if "id" in message else b""
        self._send(200 if answer else 202, answer, name)

    def _send(self, status: int, body: bytes, name: str | None = None) -> None:
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        if name:
            self.send_header("mcp-session-id", name)
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def bridge(folder: Path) -> Iterator[str]:
    """Yield the address of servers whose notes lie in a folder."""
    server = _Bridge(folder)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/mcp"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
        server.end()
