"""The real Pi in a scratch home: one-shot runs, and RPC sessions that a test drives."""

from __future__ import annotations

import json
import os
import queue
import shlex
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from model import Result, ScriptedModel, ToolCall
from tmux import Tmux

PATIENCE = 60.0
"""Seconds for which a test waits on Pi, at most."""

WIDTH, HEIGHT = 108, 54
"""Size of a terminal, in characters."""

WINDOW = 200_000
RESERVE = 10_000


def script(code: str) -> ToolCall:
    """Return a codemode call that runs this script."""
    return ToolCall("codemode", {"code": code})


def output(result: Result) -> Any:
    """Return the one value that a codemode script returned, parsed."""
    assert not result.is_error, result.text
    head, _, value = result.text.partition("Output:\n")
    assert head.startswith("Script completed"), result.text
    return json.loads(value)


def helpers(process: subprocess.Popen[Any]) -> list[int]:
    """Return the pids of hindnote's processes below a Pi process."""
    try:
        pids = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    except FileNotFoundError:
        return []
    return [int(pid) for pid in pids if b"hindnote.hosts.pi" in _command_line(pid)]


def _command_line(pid: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""


@dataclass
class Pi:
    """A scratch home with Pi in it, pointed at a scripted model."""

    root: Path
    node: Path
    modules: Path
    model: ScriptedModel
    extra_env: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for folder in (self.agent_dir, self.project, self.home / "tmp"):
            folder.mkdir(parents=True, exist_ok=True)
        provider = {
            "baseUrl": self.model.url,
            "api": "anthropic-messages",
            "apiKey": "none",
            "models": [{"id": "scripted-1", "contextWindow": WINDOW}],
        }
        self._write("models.json", {"providers": {"scripted": provider}})
        self.settings()

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def agent_dir(self) -> Path:
        return self.home / ".pi" / "agent"

    @property
    def project(self) -> Path:
        return self.home / "project"

    @property
    def notes(self) -> Path:
        return self.home / ".agents" / "notes"

    @property
    def extension(self) -> Path:
        return self.agent_dir / "extensions" / "hindnote"

    def settings(self, **more: Any) -> None:
        """Write Pi's settings: codemode on, a small reserve, nothing kept after compactions."""
        basic = {
            "defaultProvider": "scripted",
            "defaultModel": "scripted-1",
            "defaultTools": ["+codemode"],
            "defaultProjectTrust": "always",
            "compaction": {"reserveTokens": RESERVE, "keepRecentTokens": 1},
            "cacheWarming": "off",
            "quietStartup": True,
        }
        self._write("settings.json", {**basic, **more})

    def _write(self, name: str, data: Any) -> None:
        (self.agent_dir / name).write_text(json.dumps(data), "utf-8")

    @property
    def env(self) -> dict[str, str]:
        """The environment that Pi gets: nothing of the test's own but the PATH."""
        return {
            "PATH": os.pathsep.join([str(self.node), os.environ["PATH"]]),
            "HOME": str(self.home),
            "TMPDIR": str(self.home / "tmp"),
            "LANG": "C.UTF-8",
            "PI_OFFLINE": "1",
            "PI_SKIP_VERSION_CHECK": "1",
            "PI_TELEMETRY": "0",
            **self.extra_env,
        }

    def command(self, *arguments: str) -> list[str]:
        """Return the command that runs Pi with these arguments."""
        cli = self.modules / "@earendil-works" / "pi-coding-agent" / "dist" / "bundle" / "cli.js"
        if not cli.exists():
            cli = self.modules / "@earendil-works" / "pi-coding-agent" / "dist" / "cli.js"
        return [str(self.node / "node"), str(cli), *arguments]

    def hindnote(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run hindnote's command line in the scratch home."""
        return subprocess.run(
            [str(Path(sys.executable).parent / "hindnote"), *arguments],
            cwd=self.project,
            env=self.env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )

    def call(self, operation: str, arguments: dict[str, Any], *options: str) -> str:
        """Call an operation on the command line and return what it prints."""
        done = self.hindnote("call", operation, json.dumps(arguments), *options)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def note(self, address: str, body: str) -> Path:
        """Write a note of the project and return its file."""
        self.call("notes_write", {"address": f"@project/{address}", "content": body})
        [file] = self.notes.glob(f"project/*/{address}.md")
        return file

    def say(self, prompt: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run ``pi -p`` with one prompt, to its end."""
        return self.run(*arguments, "-p", prompt)

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run Pi with these arguments, to its end."""
        return subprocess.run(
            self.command(*arguments),
            cwd=self.project,
            env=self.env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )

    @contextmanager
    def rpc(self, *arguments: str) -> Iterator[Rpc]:
        """Run ``pi --mode rpc``; it is shut down in order at the end."""
        process = subprocess.Popen(
            self.command("--mode", "rpc", *arguments),
            cwd=self.project,
            env=self.env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        rpc = Rpc(process)
        try:
            yield rpc
        finally:
            rpc.close()

    def session_files(self) -> list[Path]:
        """Return the session files, oldest first."""
        return sorted((self.agent_dir / "sessions").glob("*/*.jsonl"))

    def entries(self, file: Path | None = None) -> list[dict[str, Any]]:
        """Return the lines of a session file, of the only one when none is named."""
        if file is None:
            [file] = self.session_files()
        return [json.loads(line) for line in file.read_bytes().split(b"\n") if line]


class Rpc:
    """A running ``pi --mode rpc``."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.events: list[dict[str, Any]] = []
        self.stderr = ""
        self._records: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._count = 0
        self._threads = [threading.Thread(target=f) for f in (self._read, self._read_errors)]
        for thread in self._threads:
            thread.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        while line := self.process.stdout.readline():
            self._records.put(json.loads(line))
        self._records.put(None)

    def _read_errors(self) -> None:
        assert self.process.stderr is not None
        self.stderr = self.process.stderr.read().decode("utf-8", "replace")

    def send(self, kind: str, **fields: Any) -> str:
        """Send one command and return its id."""
        self._count += 1
        request_id = f"t{self._count}"
        assert self.process.stdin is not None
        line = json.dumps({"id": request_id, "type": kind, **fields})
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()
        return request_id

    def ask(self, kind: str, **fields: Any) -> dict[str, Any]:
        """Send one command and return the data of its response."""
        request_id = self.send(kind, **fields)
        response = self.wait(lambda event: event.get("id") == request_id)
        assert response["success"], response
        data: dict[str, Any] = response.get("data") or {}
        return data

    def wait(self, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Return the next record that is wanted; the ones before it are kept in ``events``."""
        while True:
            try:
                event = self._records.get(timeout=PATIENCE)
            except queue.Empty:
                raise AssertionError(f"Pi said nothing more: {self.events[-3:]}") from None
            if event is None:
                raise AssertionError(f"Pi ended: {self.events[-3:]} {self.stderr}")
            self.events.append(event)
            if wanted(event):
                return event

    def wait_type(self, kind: str) -> dict[str, Any]:
        """Return the next record of a type."""
        return self.wait(lambda event: event.get("type") == kind)

    def prompt(self, text: str) -> None:
        """Send a prompt and wait until Pi is idle again."""
        data = self.ask("prompt", message=text)
        if data.get("disposition") != "handled":
            self.wait_type("agent_settled")

    def begin(self, text: str, calls: int) -> None:
        """Send a prompt and return when so many calls of its answer have begun."""
        self.ask("prompt", message=text)
        for _ in range(calls):
            self.wait_type("tool_execution_start")
        # Pi tells of a call just before it makes it; after two more turns it is made.
        self.ask("get_state")
        self.ask("get_state")

    def notifications(self) -> list[str]:
        """Return what extensions have told the person so far."""
        return [e["message"] for e in self.events if e.get("method") == "notify"]

    def close(self) -> None:
        """Shut Pi down in order, and wait."""
        if self.process.stdin is not None and not self.process.stdin.closed:
            self.process.stdin.close()
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        for thread in self._threads:
            thread.join()
        for pipe in (self.process.stdout, self.process.stderr):
            if pipe is not None:
                pipe.close()


class Terminal(Tmux):
    """Pi in a terminal of its own, which a test types into."""

    def __init__(self, pi: Pi) -> None:
        for program in ("fd", "rg"):
            # Pi would fetch them, and warns in a place without network.
            helper = pi.agent_dir / "bin" / program
            helper.parent.mkdir(exist_ok=True)
            helper.write_text("#!/bin/sh\n")
            helper.chmod(0o755)
        environment = [f"{key}={value}" for key, value in pi.env.items()]
        super().__init__(
            f"hindnote-{os.getpid()}-{pi.root.name}",
            pi.root / "tmux.conf",
            ["set -g extended-keys on"],
            (WIDTH, HEIGHT),
            pi.project,
            shlex.join(["env", *environment, "COLORTERM=truecolor", *pi.command()]),
        )
        self.wait_for("scripted-1")

    def type(self, text: str) -> None:
        """Type a line."""
        self.write(text)
        self.press("Enter")
