"""Codex, opencode and Gemini CLI, configured as ``docs/mcp.md`` says, on a scripted model."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from dialects import Gemini, Responses
from model import ScriptedModel, ToolCall

DOCS = Path(__file__).parents[3] / "docs" / "mcp.md"
SERVER = Path(sys.executable).with_name("hindnote")


def documented(title: str) -> str:
    """Return the configuration below a heading of ``docs/mcp.md``."""
    section = DOCS.read_text("utf-8").partition(f"### {title}\n")[2].partition("\n### ")[0]
    found = re.search(r"```(?:toml|json)\n(.*?)```", section, re.DOTALL)
    assert found, f"no configuration for {title}"
    return found[1]


@dataclass
class Program:
    """One program with a scratch home; what its files and requests look like is below."""

    modules: Path
    node: Path
    home: Path
    project: Path
    model: ScriptedModel

    title: ClassVar[str] = ""
    prefix: ClassVar[str] = ""
    """What stands before our tools' names as the model sees them."""

    speaks: ClassVar[Any] = None

    @property
    def notes(self) -> Path:
        return self.home / ".agents" / "notes"

    def tool(self, name: str, **arguments: Any) -> ToolCall:
        return ToolCall(self.prefix + name, arguments)

    def configuration(self) -> str:
        """Return what the documentation says, for the command and homes of this test."""
        told = documented(self.title)
        told = told.replace("/home/me/.agents/notes", str(self.notes))
        told = told.replace("/home/me/.local/bin/hindnote", str(SERVER))
        assert "/home/me" not in told
        return told

    def environment(self) -> dict[str, str]:
        return {"HOME": str(self.home), "PATH": f"{self.node}{os.pathsep}/usr/bin:/bin"}

    def command(self, prompt: str) -> list[str]:
        raise NotImplementedError

    def prepare(self) -> None:
        """Write the configuration."""
        raise NotImplementedError

    def run(self, prompt: str) -> str:
        """Run the program to its end and return what it printed."""
        self.prepare()
        done = subprocess.run(
            self.command(prompt),
            cwd=self.project,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=120,
            check=False,
        )
        printed = done.stdout.decode("utf-8", "replace")
        assert done.returncode == 0, printed[-2000:]
        return printed

    def write(self, name: str, text: str) -> None:
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


class Codex(Program):
    title = "Codex"
    prefix = "mcp__hindnote/"
    speaks = Responses

    def prepare(self) -> None:
        model = f"""model = "scripted"
model_provider = "scripted"
approval_policy = "never"
sandbox_mode = "read-only"

[analytics]
enabled = false

[model_providers.scripted]
name = "scripted"
base_url = "{self.model.url}/v1"
wire_api = "responses"

"""
        self.write(".codex/config.toml", model + self.configuration())

    def command(self, prompt: str) -> list[str]:
        vendor = self.modules / "@openai" / "codex-linux-x64" / "vendor"
        executable = vendor / "x86_64-unknown-linux-musl" / "bin" / "codex"
        return [str(executable), "exec", "--skip-git-repo-check", prompt]


class OpenCode(Program):
    title = "opencode"
    prefix = "hindnote_"

    def prepare(self) -> None:
        options = {"baseURL": f"{self.model.url}/v1", "apiKey": "none"}
        models = {"scripted": {"name": "scripted"}}
        provider = {"npm": "@ai-sdk/anthropic", "options": options, "models": models}
        told = {
            "autoupdate": False,
            "share": "disabled",
            "model": "scripted/scripted",
            "provider": {"scripted": provider},
            **json.loads(self.configuration()),
        }
        self.write(".config/opencode/opencode.json", json.dumps(told))

    def environment(self) -> dict[str, str]:
        quiet = ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD")
        return super().environment() | {f"OPENCODE_DISABLE_{name}": "1" for name in quiet}

    def command(self, prompt: str) -> list[str]:
        return [str(self.modules / "opencode-linux-x64" / "bin" / "opencode"), "run", prompt]


class GeminiCli(Program):
    title = "Gemini CLI"
    prefix = "mcp_hindnote_"
    speaks = Gemini

    def prepare(self) -> None:
        told = {
            "privacy": {"usageStatisticsEnabled": False},
            "telemetry": {"enabled": False},
            "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
            "security": {"auth": {"selectedType": "gemini-api-key"}},
            **json.loads(self.configuration()),
        }
        self.write(".gemini/settings.json", json.dumps(told))

    def environment(self) -> dict[str, str]:
        return super().environment() | {
            "GEMINI_API_KEY": "none",
            "GOOGLE_GEMINI_BASE_URL": self.model.url,
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
            # It would start itself a second time, to ask for more memory.
            "GEMINI_CLI_NO_RELAUNCH": "true",
        }

    def command(self, prompt: str) -> list[str]:
        script = self.modules / "@google" / "gemini-cli" / "bundle" / "gemini.js"
        # With a model of its own choice it asks another one first which to take.
        return [str(self.node / "node"), str(script), "-m", "gemini-2.5-pro", "-p", prompt]


PROGRAMS = (Codex, OpenCode, GeminiCli)
