"""The real Codex on a scripted model: its app server, spoken to as its own programs do."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

sys.path.insert(0, str(Path(__file__).parents[1] / "mcp"))

from model import ScriptedModel

PATIENCE = 60.0
"""Seconds to wait for one message of the app server."""

Message = dict[str, Any]


def executable(modules: Path) -> Path:
    """Return the program itself, which needs no Node.js."""
    vendor = modules / "@openai" / "codex-linux-x64" / "vendor"
    return vendor / "x86_64-unknown-linux-musl" / "bin" / "codex"


def configuration(model: ScriptedModel, more: str = "") -> str:
    """Return a ``config.toml`` that sends Codex to a scripted model."""
    return f"""model = "scripted"
model_provider = "scripted"
approval_policy = "never"
sandbox_mode = "danger-full-access"
{more}
[analytics]
enabled = false

[model_providers.scripted]
name = "scripted"
base_url = "{model.url}/v1"
wire_api = "responses"
"""


class AppServer:
    """One ``codex app-server``: requests, and what it tells meanwhile.

    Args:
        command: The program and its options.
        cwd: Where it runs.
        environment: Its whole environment.
    """

    def __init__(self, command: list[str], cwd: Path, environment: dict[str, str]) -> None:
        self._process = subprocess.Popen(
            command,
            cwd=cwd,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._changed = threading.Condition()
        self._told: list[Message] = []
        self._ids = 0
        self._ended = False
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        client = {"name": "hindnote-tests", "version": "1"}
        self.request("initialize", clientInfo=client, capabilities={"experimentalApi": True})
        self._send({"method": "initialized"})

    def request(self, method: str, **params: Any) -> Message:
        """Return the result of a request.

        Raises:
            AssertionError: It failed, or no answer came.
        """
        self._ids += 1
        number = self._ids
        self._send({"id": number, "method": method, "params": params})
        answer = self.wait(lambda one: one.get("id") == number and "method" not in one)
        assert "result" in answer, f"{method}: {answer}"
        result: Message = answer["result"]
        return result

    def wait(self, holds: Callable[[Message], bool], since: int = 0) -> Message:
        """Return the first message, behind so many others, of which something holds."""

        def found() -> Message | None:
            return next((one for one in self._told[since:] if holds(one)), None)

        with self._changed:
            self._changed.wait_for(lambda: found() or self._ended, PATIENCE)
            message = found()
        assert message is not None, f"not told: {[one.get('method') for one in self._told[-20:]]}"
        return message

    @property
    def told(self) -> int:
        """How many messages came so far."""
        with self._changed:
            return len(self._told)

    def turn(self, thread: str, *input: Message | str, **params: Any) -> Message:
        """Start a turn, wait for its end, and return how it ended."""
        before = self.told
        self.start_turn(thread, *input, **params)
        return self.turn_end(thread, before)

    def start_turn(self, thread: str, *input: Message | str, **params: Any) -> str:
        """Start a turn and return its id."""
        items = [{"type": "text", "text": one} if isinstance(one, str) else one for one in input]
        started = self.request("turn/start", threadId=thread, input=items, **params)
        return str(started["turn"]["id"])

    def turn_end(self, thread: str, since: int) -> Message:
        """Wait until a turn has ended."""

        def ended(one: Message) -> bool:
            of = one.get("params", {})
            return one.get("method") == "turn/completed" and of.get("threadId") == thread

        turn: Message = self.wait(ended, since)["params"]["turn"]
        return turn

    def close(self) -> None:
        """End the program, as closing its input does."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(20)
        finally:
            self._process.kill()
            self._process.wait()
            self._reader.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _send(self, message: Message) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            message = json.loads(line)
            with self._changed:
                self._told.append(message)
                self._changed.notify_all()
        self._process.stdout.close()
        with self._changed:
            self._ended = True
            self._changed.notify_all()


def environment(home: Path, path: str = "/usr/local/bin:/usr/bin:/bin") -> dict[str, str]:
    """Return all that Codex gets of an environment."""
    return {"HOME": str(home), "PATH": path, "LANG": "C.UTF-8", "TZ": "UTC"}


@contextmanager
def app_server(program: Path, home: Path, project: Path, *options: str) -> Iterator[AppServer]:
    """Run an app server in a project."""
    command = [str(program), "app-server", *options]
    with AppServer(command, project, environment(home)) as server:
        yield server
