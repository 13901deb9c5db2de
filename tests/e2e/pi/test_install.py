"""Installing into a real Pi, and taking it away again."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

from model import ScriptedModel, Text, ToolCall, Turn
from pi_host import Pi

import hindnote.hosts.pi
from hindnote.core.tools.registry import NAMES

EXTENSION = Path(hindnote.hosts.pi.__file__).parent / "extension"
DONE = Turn(Text("done"))


def tree(folder: Path) -> dict[str, bytes | None]:
    found = sorted(folder.rglob("*"))
    return {str(p.relative_to(folder)): p.read_bytes() if p.is_file() else None for p in found}


def opened(schema: Any) -> Any:
    """Return a schema without the words that its objects are closed, which the extension leaves out."""
    if isinstance(schema, list):
        return [opened(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {k: v for k, v in schema.items() if (k, v) != ("additionalProperties", False)}
    return {key: opened(value) for key, value in kept.items()}


def ours(offered: dict[str, object]) -> set[str]:
    return set(offered) & {*NAMES, "get_context_remaining"}


def test_uninstall_leaves_the_agent_directory_byte_for_byte(
    bare_pi: Pi, model: ScriptedModel
) -> None:
    model.then(DONE)
    bare_pi.say("hello", "--no-session")
    before = tree(bare_pi.agent_dir)

    assert bare_pi.hindnote("install", "pi").returncode == 0
    model.then(DONE)
    bare_pi.say("hello", "--no-session")
    assert ours(model.played[-1].tools) == {*NAMES, "get_context_remaining"}
    assert bare_pi.hindnote("uninstall", "pi").returncode == 0

    assert tree(bare_pi.agent_dir) == before
    model.then(DONE)
    bare_pi.say("hello", "--no-session")
    assert ours(model.played[-1].tools) == set()


def test_the_tools_are_offered_as_the_core_declares_them(pi: Pi, model: ScriptedModel) -> None:
    model.then(DONE)
    pi.say("hello")

    offered = model.played[0].tools
    declared = json.loads(pi.hindnote("schemas").stdout)
    assert [tool["name"] for tool in declared] == list(NAMES)
    for tool in declared:
        # With codemode active, Pi adds to each description how scripts call the tool.
        assert offered[tool["name"]]["description"].startswith(tool["description"])
        schema = offered[tool["name"]]["input_schema"]
        assert schema["properties"] == opened(tool["inputSchema"]["properties"])
        assert schema.get("required", []) == tool["inputSchema"].get("required", [])


def test_a_project_installation_works_alone(bare_pi: Pi, model: ScriptedModel) -> None:
    assert bare_pi.hindnote("install", "pi", "--project").returncode == 0
    model.then(Turn(ToolCall("notes_list", {})), DONE)

    bare_pi.say("hello")

    assert not model.played[-1].results[0].is_error


def test_pi_install_of_the_folder_works_as_well(bare_pi: Pi, model: ScriptedModel) -> None:
    folder = bare_pi.root / "checkout"
    shutil.copytree(EXTENSION, folder)
    bare_pi.extra_env["HINDNOTE_PYTHON"] = sys.executable
    installed = bare_pi.run("install", str(folder))
    assert installed.returncode == 0, installed.stderr
    model.then(Turn(ToolCall("notes_list", {})), DONE)

    bare_pi.say("hello")
    refused = bare_pi.hindnote("install", "pi")

    assert not model.played[-1].results[0].is_error
    assert refused.returncode == 1
    assert f"pi remove {folder}" in refused.stderr


def test_a_tool_of_somebody_else_keeps_its_name(pi: Pi, model: ScriptedModel) -> None:
    other = pi.agent_dir / "extensions" / "another.ts"
    other.write_text(
        """export default (pi) => pi.registerTool({
            name: "notes_read", label: "x", description: "somebody's own",
            parameters: { type: "object", properties: {} },
            execute: async () => ({ content: [{ type: "text", text: "theirs" }], details: {} }),
        });"""
    )
    model.then(Turn(ToolCall("notes_read", {}), ToolCall("notes_list", {})), DONE)

    with pi.rpc() as rpc:
        rpc.prompt("hello")
        notified = rpc.notifications()

    [theirs, mine] = model.played[-1].results
    assert theirs.text == "theirs"
    assert not mine.is_error
    assert model.played[0].tools["notes_read"]["description"].startswith("somebody's own")
    assert any("notes_read is left out" in line and str(other) in line for line in notified)


def test_a_second_hindnote_is_one_warning_and_is_told_by_the_command(
    pi: Pi, model: ScriptedModel
) -> None:
    second = pi.project / ".pi" / "extensions" / "hindnote"
    shutil.copytree(pi.extension, second)
    model.then(Turn(ToolCall("notes_list", {})), DONE)

    with pi.rpc() as rpc:
        rpc.prompt("hello")
        [warning] = rpc.notifications()
        rpc.ask("prompt", message="/hindnote")
        told = rpc.notifications()[-1]

    assert warning.startswith("hindnote: it is loaded twice, from ")
    assert str(second / "index.ts") in warning
    assert str(pi.extension / "index.ts") in warning
    assert warning.removeprefix("hindnote: ") in told
    assert "tools: 8 registered, 8 project tools" in told
    assert not model.played[-1].results[0].is_error
    boots = [e for e in pi.entries() if e.get("customType") == "hindnote-boot"]
    assert len(boots) == 1


def test_whoever_leaves_the_tools_out_is_not_told_of_notes(pi: Pi, model: ScriptedModel) -> None:
    model.then(DONE, DONE)
    pi.say("hello", "--exclude-tools", "notes_*")
    pi.say("hello", "--exclude-tools", "notes_*,history_*,get_context_remaining")

    assert ours(model.played[0].tools) == {"history_list", "history_read", "get_context_remaining"}
    assert len(model.played[0].messages) == 2
    assert ours(model.played[1].tools) == set()
    assert len(model.played[1].messages) == 1


def test_the_status_command_tells_process_and_home(pi: Pi, model: ScriptedModel) -> None:
    with pi.rpc() as rpc:
        rpc.prompt("/hindnote")
        [status] = rpc.notifications()

    assert "tools: 8 registered, 8 project tools" in status
    assert str(pi.notes) in status
    assert model.requests == []


def test_doctor_finds_nothing_wrong_after_an_installation(pi: Pi) -> None:
    wrapper = pi.root / "bin" / "pi"
    wrapper.parent.mkdir()
    wrapper.write_text("#!/bin/sh\nexec " + " ".join(pi.command()) + ' "$@"\n')
    wrapper.chmod(0o755)
    pi.extra_env["PATH"] = f"{wrapper.parent}:{pi.env['PATH']}"

    done = pi.hindnote("doctor")

    assert done.returncode == 0, done.stdout
    manifest = pi.modules / "@earendil-works" / "pi-coding-agent" / "package.json"
    assert f"pi: {json.loads(manifest.read_text())['version']}\n" in done.stdout
    assert str(pi.extension) in done.stdout
