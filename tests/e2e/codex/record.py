"""Record sessions of the real Codex on a scripted model: ``python record.py MODULES FOLDER``.

``MODULES`` is a ``node_modules`` folder that holds the pinned Codex; the rollouts go to ``FOLDER``,
one file for each, with neutral names and paths. Recorded with codex-cli 0.171.0.
"""

from __future__ import annotations

import json
import os
import shutil
import struct
import subprocess
import sys
import time
import zlib
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import zstandard

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parent))

from codex_host import AppServer, configuration, environment, executable
from dialects import Responses
from model import Native, Request, ScriptedModel, Text, ToolCall, Turn

HOME = Path("/tmp/hindnote-h")
PROJECT = Path("/tmp/hindnote-r")
NEUTRAL = {HOME: "/home/developer", PROJECT: "/workspace/demo"}
"""Each as long as what it stands for, since a fork names bytes of its parent's file."""

ZSTANDARD = b"\x28\xb5\x2f\xfd"

INSTRUCTIONS = "You are an agent whose sessions are recorded."

SERVER = HOME / "bin" / "hindnote"
"""What Codex starts as its MCP server, without a path of this machine."""

SETTINGS = f"""model_instructions_file = "{HOME}/instructions.md"

[skills]
include_instructions = false

[skills.bundled]
enabled = false

[mcp_servers.hindnote]
command = "{SERVER}"
args = ["mcp", "--home", "{HOME / "notes"}", "--agent", "codex"]
required = true
default_tools_approval_mode = "approve"
"""


def shell(command: str, **more: Any) -> ToolCall:
    return ToolCall("exec_command", {"cmd": command, **more})


def native(**item: Any) -> Turn:
    return Turn(Native(item))


def said(text: str, *, when: Any = None) -> Turn:
    return Turn(Text(text)) if when is None else Turn(Text(text), when=when)


def image(red: int) -> bytes:
    """Return a PNG of one color."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    size = 16
    head = struct.pack(">IIBBBBB", size, size, 8, 2, 0, 0, 0)
    rows = zlib.compress((b"\0" + bytes((red, 90, 160)) * size) * size)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


class Recorder:
    """One Codex and its model."""

    def __init__(self, program: Path, model: ScriptedModel) -> None:
        self._program = program
        self.model = model

    def __enter__(self) -> Self:
        self._begin()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.close()

    def _begin(self, *options: str) -> None:
        command = [str(self._program), "app-server", *options]
        self.server = AppServer(command, PROJECT, environment(HOME))

    def restart(self, *options: str) -> None:
        """End the program and start it again."""
        self.server.close()
        self._begin(*options)

    def compact(self, thread: str, summary: str) -> None:
        self.model.then(said(summary, when=lambda request: True))
        before = self.server.told
        self.server.request("thread/compact/start", threadId=thread)
        self.server.turn_end(thread, before)

    def child(self, thread: str) -> str:
        """Return the id of the agent that a thread has sent."""
        metas = (json.loads(file.open().readline())["payload"] for file in self.rollouts())
        (found,) = [str(meta["id"]) for meta in metas if meta.get("parent_thread_id") == thread]
        return found

    def start(self, **params: Any) -> str:
        """Begin a session and return its thread's id."""
        started = self.server.request(
            "thread/start", cwd=str(PROJECT), baseInstructions=INSTRUCTIONS, **params
        )
        return str(started["thread"]["id"])

    def fork(self, thread: str, **params: Any) -> str:
        """Fork a session and return the new thread's id."""
        forked = self.server.request("thread/fork", threadId=thread, **params)
        return str(forked["thread"]["id"])

    def run(self, *options: str) -> None:
        """Run another Codex to its end."""
        subprocess.run(
            [str(self._program), *options],
            cwd=PROJECT,
            env=environment(HOME),
            stdin=subprocess.DEVNULL,
            check=True,
            timeout=60,
        )

    def rollouts(self) -> list[Path]:
        """Return the files of all sessions."""
        return sorted((HOME / ".codex").rglob("rollout-2*"))

    def turn(self, thread: str, *input: Any, answers: list[Turn]) -> str:
        self.model.then(*answers)
        turn = self.server.turn(thread, *input)
        assert not self.model.left, (turn, self.model.left)
        return str(turn["id"])


# -- the scenarios ---------------------------------------------------------------


def basic(it: Recorder) -> None:
    """Answers, commands that go well and fail, calls beside each other, a command by hand."""
    thread = it.start()
    counted = [Turn(Text("I count them."), shell("wc -l README.md")), said("It has 2 lines.")]
    it.turn(thread, "Count the lines of the readme.", answers=counted)
    thought = Native(
        {
            "type": "reasoning",
            "summary": [{"type": "summary_text", "text": "One is missing."}],
            "content": [{"type": "reasoning_text", "text": "No such file."}],
        }
    )
    both = Turn(shell("cat README.md"), shell("cat absent.txt; exit 3"))
    it.turn(
        thread,
        "Look at two files at once. Grüße, 你好 👋",
        answers=[both, Turn(thought, Text("One is missing."))],
    )
    it.server.request("thread/name/set", threadId=thread, name="Count lines")
    before = it.server.told
    it.server.request("thread/shellCommand", threadId=thread, command="echo by hand")
    it.server.turn_end(thread, before)
    it.turn(thread, "Thanks.", answers=[said("Gladly.")])


def tools(it: Recorder) -> None:
    """Calls of an MCP server, what it refuses, and calls that stand complete in one row."""
    thread = it.start(model="gpt-5.5")
    notes = "mcp__hindnote/notes_"
    it.turn(
        thread,
        "Remember the plan, and read what is not there.",
        answers=[
            Turn(ToolCall(f"{notes}write", {"address": "plan", "content": "Sail.\n"})),
            Turn(ToolCall(f"{notes}read", {"address": "@project/absent"})),
            Turn(ToolCall(f"{notes}read", {"adress": "plan"})),
            said("Noted."),
        ],
    )
    patch = "*** Begin Patch\n*** Add File: new.txt\n+one\n*** End Patch\n"
    bad = patch.replace("Add File: new.txt\n+one", "Update File: none.txt\n-a\n+b")

    def custom(number: int, input: str) -> Turn:
        item = {"type": "custom_tool_call", "call_id": f"custom_{number}", "name": "apply_patch"}
        return Turn(Native({**item, "input": input}))

    it.turn(
        thread,
        "Write a file, and mend one that is not there.",
        answers=[custom(1, patch), custom(2, bad), said("Written.")],
    )
    searched = {
        "type": "web_search_call",
        "id": "ws_1",
        "status": "completed",
        "action": {"type": "search", "query": "weather: Oslo"},
    }
    drawn = {
        "type": "image_generation_call",
        "id": "ig_1",
        "status": "completed",
        "revised_prompt": "a boat",
        "result": b64encode(image(10)).decode(),
    }
    it.turn(
        thread,
        "Search and draw.",
        answers=[Turn(Native(searched), Native(drawn), Text("Found and drawn."))],
    )
    asked = {"type": "tool_search_call", "call_id": "search_1", "execution": "client"}
    look = Native({**asked, "arguments": {"query": "notes"}})
    it.turn(thread, "Look for tools.", answers=[Turn(look), said("Looked.")])
    ran = {"type": "local_shell_call", "call_id": "local_1", "status": "completed"}
    run = Native({**ran, "action": {"type": "exec", "command": ["echo", "local"]}})
    it.turn(thread, "Run it.", answers=[Turn(run, Text("Ran."))])
    it.turn(thread, "A tool that is not there.", answers=[Turn(ToolCall("nope", {})), said("No.")])


def images(it: Recorder) -> None:
    """What a person attaches, and what the agent looks at."""
    thread = it.start()
    (PROJECT / "boat.png").write_bytes(image(200))
    url = "data:image/png;base64," + b64encode(image(100)).decode()
    it.turn(
        thread,
        {"type": "localImage", "path": str(PROJECT / "boat.png")},
        {"type": "image", "url": url},
        "What is this?",
        answers=[
            Turn(ToolCall("view_image", {"path": str(PROJECT / "boat.png")})),
            said("A boat."),
        ],
    )


def aborted(it: Recorder) -> None:
    """A turn that the person ends while a command runs, and one that the program did not see."""
    thread = it.start()
    it.model.then(Turn(Text("It takes long."), shell("sleep 600", yield_time_ms=30_000)))
    before = it.server.told
    turn = it.server.start_turn(thread, "Wait long.")

    def runs(one: dict[str, Any]) -> bool:
        item = one.get("params", {}).get("item", {})
        return one.get("method") == "item/started" and item.get("type") == "commandExecution"

    it.server.wait(runs, before)
    it.server.request("turn/interrupt", threadId=thread, turnId=turn)
    it.server.turn_end(thread, before)
    it.turn(thread, "What now?", answers=[said("I was stopped.")])


def compacted(it: Recorder) -> None:
    """A session that the person compacts, and goes on with."""
    thread = it.start()
    kept = [Turn(shell("echo the needle is 4711")), said("The needle is 4711.")]
    it.turn(thread, "Find the needle.", answers=kept)
    it.compact(thread, "They looked for a needle.")
    it.turn(thread, "What did we do?", answers=[said("We looked for a needle.")])
    it.compact(thread, "They looked, and talked of it.")
    it.turn(thread, "And before?", answers=[said("The same.")])


def forked(it: Recorder) -> None:
    """A fork of a whole session, one of its beginning, and a fork of a fork."""
    origin = it.start()
    first = it.turn(origin, "One.", answers=[Turn(shell("echo one")), said("First.")])
    it.turn(origin, "Two.", answers=[said("Second.")])
    whole = it.fork(origin)
    it.turn(whole, "Three, in the fork.", answers=[said("Third, forked.")])
    it.turn(origin, "Three, in the origin.", answers=[said("Third, original.")])
    early = it.fork(origin, lastTurnId=first)
    it.turn(early, "Instead of two.", answers=[said("Another second.")])
    grandchild = it.fork(whole)
    it.turn(grandchild, "Four.", answers=[said("Fourth.")])
    it.compact(grandchild, "They counted.")
    it.turn(grandchild, "Five.", answers=[said("Fifth.")])


def reverted(it: Recorder) -> None:
    """A session whose last turns are taken back twice, and a fork of what is left."""
    thread = it.start()
    it.turn(thread, "Keep this.", answers=[Turn(shell("echo kept")), said("Kept.")])
    lost = it.turn(thread, "Take this back.", answers=[said("It will go.")])
    it.turn(thread, "And this.", answers=[said("It goes too.")])
    it.server.request("thread/revert", threadId=thread, beforeTurnId=lost)
    again = it.turn(thread, "Say this instead.", answers=[said("Instead.")])
    it.server.request("thread/revert", threadId=thread, beforeTurnId=again)
    it.turn(thread, "No, this.", answers=[said("At last.")])
    fork = it.fork(thread)
    it.turn(fork, "And on.", answers=[said("On.")])


def resumed(it: Recorder) -> None:
    """A session that goes on in another process."""
    thread = it.start()
    it.turn(thread, "First day.", answers=[said("Good morning.")])
    it.restart()
    it.server.request("thread/resume", threadId=thread)
    it.turn(thread, "Second day.", answers=[Turn(shell("date +%Y > /dev/null")), said("Again.")])


def subagent(it: Recorder) -> None:
    """An agent that sends another, which runs a command and calls our tools."""
    thread = it.start()

    def main(request: Request) -> bool:
        return "Send an agent." in request.prompt

    def sent(request: Request) -> bool:
        return not main(request)

    note = ToolCall("mcp__hindnote/notes_write", {"address": "found", "content": "One.\n"})
    it.turn(
        thread,
        "Send an agent.",
        answers=[
            Turn(ToolCall("multi_agent_v1/spawn_agent", {"message": "Count the files here."})),
            Turn(shell("echo child"), when=sent),
            Turn(note, when=sent),
            Turn(Text("There is one."), when=sent),
            Turn(lambda _: [_wait(it.child(thread))], when=main),
            Turn(Text("One file."), when=main),
        ],
    )
    it.turn(thread, "Good.", answers=[said("Yes.")])


def _wait(agent: str) -> ToolCall:
    return ToolCall("multi_agent_v1/wait_agent", {"targets": [agent]})


def legacy(it: Recorder) -> None:
    """The older way to keep a session, in which a fork copies."""
    thread = it.start(historyMode="legacy")
    it.turn(thread, "One.", answers=[Turn(shell("echo one; exit 2")), said("First.")])
    it.turn(thread, "Two.", answers=[said("Second.")])
    fork = it.fork(thread)
    it.turn(fork, "Three.", answers=[said("Third.")])


def declined(it: Recorder) -> None:
    """A call of an MCP server that nobody may approve."""
    asks = "mcp_servers.hindnote.default_tools_approval_mode"
    it.restart("-c", f'{asks}="prompt"', "-c", 'sandbox_mode="read-only"')
    thread = it.start()
    note = ToolCall("mcp__hindnote/notes_write", {"address": "plan", "content": "No.\n"})
    it.turn(thread, "Write it.", answers=[Turn(note), said("I may not.")])


def archived(it: Recorder) -> None:
    """A session that the person put away."""
    thread = it.start()
    it.turn(thread, "Put this away.", answers=[said("Gone.")])
    it.server.request("thread/archive", threadId=thread)


def printed(it: Recorder) -> None:
    """``codex exec``, and its session gone on with."""
    it.model.then(said("Printed."))
    it.run("exec", "--skip-git-repo-check", "Print this.")
    it.model.then(Turn(shell("echo more")), said("More."))
    it.run("exec", "--skip-git-repo-check", "resume", "--last", "And more.")


def compressed(it: Recorder) -> None:
    """A session that was compressed, as cold ones are when a person asks for it."""
    thread = it.start()
    it.turn(thread, "Compress this.", answers=[Turn(shell("seq 1 200")), said("Small.")])
    old = time.time() - 400 * 86_400
    for file in it.rollouts():
        os.utime(file, (old, old))
    it.restart("--enable", "local_thread_store_compression")
    it.server.request("rollout/compress")
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and not all(file.suffix == ".zst" for file in it.rollouts()):
        time.sleep(0.1)


SCENARIOS: tuple[Callable[[Recorder], None], ...] = (
    basic,
    tools,
    images,
    aborted,
    compacted,
    forked,
    reverted,
    resumed,
    subagent,
    legacy,
    declined,
    archived,
    printed,
    compressed,
)


def main() -> int:
    modules, folder = Path(sys.argv[1]), Path(sys.argv[2])
    only = sys.argv[3:]
    for scenario in SCENARIOS:
        if not only or scenario.__name__ in only:
            record(executable(modules), scenario, folder)
    if not only:
        make_rolled_back(folder)
    return 0


def record(program: Path, scenario: Callable[[Recorder], None], folder: Path) -> None:
    """Run one scenario in a home of its own, and keep its rollouts."""
    for path in (HOME, PROJECT):
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir()
    (PROJECT / "README.md").write_text("# Demo\nTwo lines.\n")
    (HOME / "instructions.md").write_text(INSTRUCTIONS)
    (HOME / ".codex").mkdir()
    SERVER.parent.mkdir()
    SERVER.write_text(f'#!/bin/sh\nexec {Path(sys.executable).with_name("hindnote")} "$@"\n')
    SERVER.chmod(0o755)
    with ScriptedModel(speaks=Responses) as model:
        (HOME / ".codex" / "config.toml").write_text(configuration(model, SETTINGS))
        with Recorder(program, model) as recorder:
            scenario(recorder)
    target = folder / scenario.__name__
    shutil.rmtree(target, ignore_errors=True)
    for file in [*recorder.rollouts(), *(HOME / ".codex").glob("session_index.jsonl")]:
        kept = target / file.relative_to(HOME / ".codex")
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(neutral(file.read_bytes()))
        sys.stdout.write(f"{kept.relative_to(folder)}\n")


def make_rolled_back(folder: Path) -> None:
    """Write a session as older versions took turns back: synthetic, from the legacy recording.

    Codex 0.171 takes turns back in another way (``reverted``), but reads such rows.
    """
    source = min((folder / "legacy").rglob("rollout-2*"))
    rows = [json.loads(line) for line in source.read_bytes().splitlines()]
    old, new = rows[0]["payload"]["id"], "01a20000-0000-7000-8000-000000000001"
    lines = source.read_text("utf-8").replace(old, new)
    moment = {"timestamp": "2026-12-01T12:00:00.000Z"}
    undone = {"type": "thread_rolled_back", "num_turns": 1}
    content = [{"type": "input_text", "text": "Two, said again."}]
    again = {"type": "message", "role": "user", "content": content}
    content = [{"type": "output_text", "text": "Second again."}]
    answer = {"type": "message", "role": "assistant", "content": content}
    for kind, payload in (
        ("event_msg", undone),
        ("response_item", again),
        ("response_item", answer),
    ):
        row = {**moment, "type": kind, "payload": payload}
        lines += json.dumps(row, separators=(",", ":")) + "\n"
    target = folder / "rolled-back-synthetic" / source.relative_to(folder / "legacy")
    target = target.with_name(target.name.replace(old, new))
    shutil.rmtree(folder / "rolled-back-synthetic", ignore_errors=True)
    target.parent.mkdir(parents=True)
    target.write_text(lines, "utf-8")


def neutral(data: bytes) -> bytes:
    """Return bytes of a recording without paths of this machine."""
    if data.startswith(ZSTANDARD):
        return zstandard.compress(neutral(zstandard.ZstdDecompressor().stream_reader(data).read()))
    for path, named in NEUTRAL.items():
        assert len(str(path)) == len(named)
        data = data.replace(str(path).encode(), named.encode())
    return data


if __name__ == "__main__":
    sys.exit(main())
