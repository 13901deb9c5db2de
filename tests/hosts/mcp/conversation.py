"""A program at the other end of the server's pipes, for tests: it writes lines and reads them."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hindnote.core.plugins.hosts import Hosts
from hindnote.hosts.mcp import command, plugin
from hindnote.hosts.mcp.answers import Answers
from hindnote.hosts.mcp.calls import Settings
from hindnote.hosts.mcp.jobs import LIMIT, Jobs
from hindnote.hosts.mcp.server import Sink, Source, serve
from hindnote.hosts.mcp.session import Session
from hindnote.hosts.pi import plugin as pi

DECLARED = json.loads(Path(command.__file__).with_name("tools.json").read_bytes())
HOSTS = Hosts.of({"mcp": plugin, "pi": pi})
VERSIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]


class Conversation:
    """What a program sends and gets. ``close`` ends its input and waits for the server's end."""

    def __init__(
        self, toolbox: Any, settings: Settings, limit: float = LIMIT, line: int = 1 << 26
    ) -> None:
        read, self._in = os.pipe()
        out, write = os.pipe()
        self._out = os.fdopen(out, "rb")
        sink = Sink(write)
        session = Session(settings, DECLARED, toolbox, sink.send, "1.0", Jobs(limit))
        warm = threading.Thread(target=lambda: None, daemon=True)

        def run() -> None:
            serve(session, Source(read, write, line), sink, warm)
            os.close(write)
            os.close(read)

        self._server = threading.Thread(target=run, daemon=True)
        self._server.start()
        self._last = 0
        self._open = True

    def send(self, *messages: Any) -> None:
        """Send messages, or lines as they are, one to a line."""
        for message in messages:
            line = message if isinstance(message, bytes) else json.dumps(message).encode()
            left = memoryview(line + b"\n")
            while left:
                left = left[os.write(self._in, left) :]

    def line(self) -> Any:
        """Return the next line that came; None at the end."""
        line = self._out.readline()
        return json.loads(line) if line else None

    def ask(self, method: str, params: Any = None, **more: Any) -> dict[str, Any]:
        """Return the answer to a request."""
        self._last += 1
        request = {"jsonrpc": "2.0", "id": self._last, "method": method, **more}
        self.send(request if params is None else {**request, "params": params})
        answer: dict[str, Any] = self.line()
        assert answer["id"] == self._last
        return answer

    def tell(self, method: str, params: Any = None) -> None:
        """Send a notification."""
        told = {"jsonrpc": "2.0", "method": method}
        self.send(told if params is None else {**told, "params": params})

    def greet(self, version: str = VERSIONS[-1], **capabilities: Any) -> dict[str, Any]:
        """Greet the server and return what it says."""
        who = {"name": "test", "version": "1"}
        params = {"protocolVersion": version, "capabilities": capabilities, "clientInfo": who}
        result: dict[str, Any] = self.ask("initialize", params)["result"]
        self.tell("notifications/initialized")
        return result

    def call(self, name: str, meta: Any = None, **arguments: Any) -> dict[str, Any]:
        """Return the answer to a call."""
        params: dict[str, Any] = {"name": name, "arguments": arguments}
        return self.ask("tools/call", {**params, "_meta": meta} if meta else params)

    def end_input(self) -> None:
        """Send nothing more."""
        if self._open:
            os.close(self._in)
            self._open = False

    def rest(self) -> list[Any]:
        """End the input and return all lines that still come."""
        self.end_input()
        return [json.loads(line) for line in self._out]

    def read_no_more(self) -> None:
        """Close the end from which answers are read."""
        self._out.close()

    def close(self) -> None:
        """Wait for the server's end."""
        self.end_input()
        self._server.join(30)
        assert not self._server.is_alive()
        self._out.close()

    def ends(self) -> bool:
        """Return whether the server ends by itself."""
        self._server.join(30)
        return not self._server.is_alive()


@contextmanager
def conversation(folder: Path, **settings: Any) -> Iterator[Conversation]:
    """Yield a program and a server in one folder."""
    told = Settings(**{"directory": folder, "home": folder / "notes", **settings})
    talk = Conversation(Answers(told, HOSTS), told)
    try:
        yield talk
    finally:
        talk.close()
