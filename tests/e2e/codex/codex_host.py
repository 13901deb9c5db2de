"""The real Codex on a scripted model: its app server, spoken to as its own programs do."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

sys.path.insert(0, str(Path(__file__).parents[1] / "mcp"))

from model import ScriptedModel, ToolCall

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


@dataclass
class Codex:
    """One Codex with a home and a project of its own, on a scripted model."""

    program: Path
    home: Path
    project: Path
    model: ScriptedModel

    @property
    def config(self) -> Path:
        return self.home / ".codex" / "config.toml"

    @property
    def notes(self) -> Path:
        return self.home / ".agents" / "notes"

    def configure(self, more: str = "") -> None:
        """Write a configuration, as a person has one."""
        self.config.parent.mkdir(exist_ok=True)
        self.config.write_text("# mine\n" + configuration(self.model, more))

    def hindnote(self, *command: str) -> str:
        """Run hindnote's own command as a person does."""
        done = subprocess.run(
            [str(Path(sys.executable).with_name("hindnote")), *command],
            cwd=self.project,
            env=environment(self.home),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    @contextmanager
    def served(self, *options: str) -> Iterator[AppServer]:
        """Run an app server in the project."""
        command = [str(self.program), "app-server", *options]
        with AppServer(command, self.project, environment(self.home)) as server:
            yield server

    def run(self, *options: str) -> str:
        """Run ``codex exec`` to its end and return what it printed."""
        done = subprocess.run(
            [str(self.program), "exec", *options],
            cwd=self.project,
            env=environment(self.home),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stdout[-2000:]
        return done.stdout

    def trust(self, server: AppServer) -> None:
        """Trust all hooks, as a person does whom Codex asks; it is for the next start."""
        hooks = server.request("hooks/list", cwds=[str(self.project)])["data"][0]["hooks"]
        state = {hook["key"]: {"trusted_hash": hook["currentHash"]} for hook in hooks}
        edit = {"keyPath": "hooks.state", "value": state, "mergeStrategy": "upsert"}
        server.request("config/batchWrite", edits=[edit])


def ours(name: str, **arguments: Any) -> ToolCall:
    """Return a call of one of our tools, as Codex's model makes it."""
    return ToolCall(f"mcp__hindnote/{name}", arguments)
