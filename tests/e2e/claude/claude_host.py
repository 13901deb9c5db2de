"""One person's Claude Code, run against a scripted model."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from model import Request, Result, ScriptedModel, Text, ToolCall, Turn

PREFIX = "mcp__hindnote__"
HINDNOTE = [sys.executable, "-c", "from hindnote.core.cli import main; main()"]
PATIENCE = 90
"""Seconds for which one run of the host may take, on a slow machine."""


def tool(name: str, call_id: str | None = None, /, **arguments: Any) -> ToolCall:
    """A call of one of our tools, named as the model sees it."""
    return ToolCall(PREFIX + name, arguments, call_id)


@dataclass
class Claude:
    """One person's Claude Code: a home, a project, and the model that it talks to."""

    executable: Path
    model: ScriptedModel
    home: Path
    project: Path
    runtime: Path
    """The folder of the helper's socket; its path is short, and in the helper's command line."""

    extra: dict[str, str] = field(default_factory=dict)
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def env(self) -> dict[str, str]:
        return {
            "PATH": f"{self.executable.parent}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "TMPDIR": str(self.runtime),
            "ANTHROPIC_BASE_URL": self.model.url,
            "ANTHROPIC_API_KEY": "dummy",
            "DISABLE_AUTOUPDATER": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            **self.extra,
        }

    @property
    def notes(self) -> Path:
        return self.home / ".agents" / "notes"

    @property
    def log(self) -> Path:
        return self.home / "debug.log"

    def hindnote(self, *arguments: str, status: int | None = 0) -> str:
        """Run the command line as that person and return what it printed."""
        done = subprocess.run(
            [*HINDNOTE, *arguments],
            env=self.env,
            cwd=self.project,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PATIENCE,
            check=False,
        )
        assert status in (None, done.returncode), done.stderr.decode()
        return done.stdout.decode()

    def printed(self, operation: str, session: str, status: int = 0, /, **arguments: Any) -> str:
        """What ``hindnote call`` prints for the state as it is now, without its line's end."""
        file = str(self.transcript_path(session))
        options = ["--host", "claude", "--session-file", file, "--model", self.model_name]
        text = self.hindnote("call", operation, json.dumps(arguments), *options, status=status)
        assert text.endswith("\n")
        return text[:-1]

    @property
    def model_name(self) -> str:
        return self.model.played[0].body["model"]

    def command(self, *options: str) -> list[str]:
        return [str(self.executable), "--debug-file", str(self.log), *options]

    def run(self, prompt: str, *options: str) -> str:
        """Run one prompt to its end and return the session's id."""
        done = subprocess.run(
            self.command("-p", prompt, "--output-format", "json", *options),
            env=self.env,
            cwd=self.project,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PATIENCE,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout)["session_id"]

    def start(self, prompt: str, *options: str) -> subprocess.Popen[bytes]:
        """Start one prompt and return the running process; the fixture ends it."""
        process = subprocess.Popen(
            self.command("-p", prompt, *options),
            env=self.env,
            cwd=self.project,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.processes.append(process)
        return process

    def settings(self, *, hooks: dict[str, Any] | None = None, **permissions: Any) -> None:
        """Write the person's settings: ``allow``, ``ask`` and ``deny`` rules, and hooks."""
        settings = {"permissions": permissions, "hooks": hooks or {}}
        (self.home / ".claude").mkdir(exist_ok=True)
        (self.home / ".claude" / "settings.json").write_text(json.dumps(settings), "utf-8")

    def logging_hooks(self, decision: dict[str, Any] | None = None) -> dict[str, Any]:
        """Hooks of a person that log every event of our tools.

        Args:
            decision: What the PreToolUse hook answers; None: nothing.
        """
        answer = self.home / "decision.json"
        answer.write_text(json.dumps({"hookSpecificOutput": decision}) if decision else "")
        log = shlex.quote(str(self.hook_log))

        def hook(command: str) -> list[dict[str, Any]]:
            commands = [{"type": "command", "command": command}]
            return [{"matcher": PREFIX + ".*", "hooks": commands}]

        # One write a line, so that calls side by side do not mix theirs.
        logged = f'line=$(cat); printf "%s\\n" "$line" >> {log}'
        return {
            "PreToolUse": hook(f"{logged}; cat {shlex.quote(str(answer))}"),
            "PostToolUse": hook(logged),
            "PostToolUseFailure": hook(logged),
        }

    @property
    def hook_log(self) -> Path:
        return self.home / "hooks.jsonl"

    def hooked(self) -> list[tuple[str, str]]:
        """What the hooks logged: the event and the tool's name, in order."""
        return [
            (event["hook_event_name"], event["tool_name"].removeprefix(PREFIX))
            for event in self.hook_events()
        ]

    def hook_events(self) -> list[dict[str, Any]]:
        if not self.hook_log.exists():
            return []
        return [json.loads(line) for line in self.hook_log.read_text("utf-8").splitlines()]

    def transcript_path(self, session: str) -> Path:
        (found,) = (self.home / ".claude" / "projects").glob(f"*/{session}.jsonl")
        return found

    def transcript(self, session: str) -> list[dict[str, Any]]:
        lines = self.transcript_path(session).read_text("utf-8").split("\n")
        return [json.loads(line) for line in lines if line]

    def sockets(self) -> list[Path]:
        """The folders of helpers' sockets; the host keeps sockets of its own beside them."""
        return sorted(path for path in self.runtime.glob("hindnote-*") if path.is_dir())

    def helpers(self) -> list[int]:
        """The ids of the helper processes of this test that are alive."""
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                command = (folder / "cmdline").read_bytes()
                state = (folder / "stat").read_text().rpartition(")")[2].split()[0]
            except OSError:
                continue
            if b"hindnote.hosts.claude" in command and str(self.runtime).encode() in command:
                found += [int(folder.name)] if state != "Z" else []
        return found


@dataclass
class Dialogue:
    """One process of Claude Code to which several prompts are sent."""

    claude: Claude
    process: subprocess.Popen[str]
    session: str = ""

    def say(self, prompt: str) -> None:
        """Send a prompt, or a slash command, and wait until it was dealt with."""
        message = {"type": "user", "message": {"role": "user", "content": prompt}}
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()
        for line in self.process.stdout:
            event = json.loads(line)
            self.session = event.get("session_id", self.session)
            if event["type"] == "result":
                assert not event.get("is_error"), event
                return
        raise AssertionError("the host ended")


def results(request: Request) -> list[Result]:
    """The newest tool results. The host may put reminders of its own behind them."""
    newest = [m for m in request.messages if m["role"] != "system"][-1]
    return Request(request.path, {}, {"messages": [newest]}).results


def texts(request: Request) -> list[str]:
    return [result.text for result in results(request)]


DONE = Turn(Text("Done."))
