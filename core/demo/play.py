"""The scenes of the demo, each one real call."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeAlias

from hindnote.core.call import Answer, Dispatcher
from hindnote.core.plugins.hosts import Hosts
from hindnote.core.plugins.models import HostCall

GREETING = "01a22be3-c9bc-7148-a162-34435c96bde2"
"""Id of the demo's current session."""

SCRIPTS = "01a22bdd-7b00-75c7-b279-3d5854d04e10"
"""Id of an earlier session, in which the agent wrote scripts that call tools."""

_SESSIONS = {
    "greeting.jsonl": f"2026-11-30T09-57-58-333Z_{GREETING}.jsonl",
    "scripts.jsonl": f"2026-11-30T09-51-04-961Z_{SCRIPTS}.jsonl",
}
"""Names in the package, and the names under which Pi stored the sessions."""

Arguments: TypeAlias = dict[str, Any]
Told: TypeAlias = Mapping[str, Mapping[str, Any]]
"""The structured results so far, by scene name."""


@dataclass(frozen=True, slots=True)
class Scene:
    """One call and its answer."""

    title: str
    operation: str
    arguments: Arguments
    answer: Answer


@dataclass(frozen=True, slots=True)
class _Plan:
    name: str
    title: str
    operation: str
    arguments: Callable[[Told], Arguments]


def _plan(name: str, title: str, operation: str, **arguments: Any) -> _Plan:
    return _Plan(name, title, operation, lambda told: arguments)


DECISION = """# Greeting

- The name comes from the environment variable NAME.
- The config file holds `retries`, 3 for now.
- Open: where does the config file live?
"""

PLANS = (
    _plan(
        "written",
        "The agent writes down what it decided, for everyone who works in this project.",
        "notes_write",
        address="@project/greeting",
        content=DECISION,
    ),
    _plan(
        "private",
        "And a note for this session alone.",
        "notes_write",
        address="todo",
        content="Ask where the config file should live.\n",
    ),
    _plan("listed", "After a compaction it looks what there is.", "notes_list"),
    _plan(
        "searched",
        "It remembers a word and not the note. Each hit says where in the body it is.",
        "notes_search",
        query="config file",
    ),
    _plan(
        "refused",
        "An edit that could mean two places is refused, with the lines to choose from.",
        "notes_update",
        address="@project/greeting",
        edits=[{"old_text": "config file", "new_text": "settings file"}],
    ),
    _plan(
        "updated",
        "So it names the text exactly. Several edits apply all together or not at all.",
        "notes_update",
        address="@project/greeting",
        edits=[
            {
                "old_text": "- Open: where does the config file live?",
                "new_text": "- The config file is src/new/config.json.",
            }
        ],
    ),
    _plan(
        "renamed",
        "A note can move to another home: from the project to the agent's own notes.",
        "notes_update",
        address="@project/greeting",
        rename_to="@self/lessons/greeting",
    ),
    _plan(
        "read",
        "Reads are windows over the body. This one is short on purpose.",
        "notes_read",
        address="@self/lessons/greeting",
        limit_chars=60,
    ),
    _Plan(
        "read on",
        "An incomplete window says where the next one starts.",
        "notes_read",
        lambda told: {
            "address": "@self/lessons/greeting",
            "offset_chars": told["read"]["next_offset_chars"],
        },
    ),
    _plan(
        "page",
        "History is the host's own recording. The newest events, runs of tool calls folded.",
        "history_list",
        limit=3,
    ),
    _Plan(
        "older",
        "The page before it: its recipe, merged into the same call.",
        "history_list",
        lambda told: {"limit": 3, **told["page"]["page_older"]},
    ),
    _plan(
        "found",
        "What was done is found in full: arguments and output of tools count.",
        "history_list",
        query="retries",
        max_chars_per_item=200,
    ),
    _Plan(
        "event",
        "One of the hits, whole: the call, its arguments and its output are one event.",
        "history_read",
        lambda told: {"seq": told["found"]["items"][0]["seq"]},
    ),
    _plan(
        "scripts",
        "Another session, by the start of its id: a script that called other tools.",
        "history_list",
        session=SCRIPTS[:13],
        query="from bash",
        limit=1,
        max_chars_per_item=200,
        **{"from": "oldest"},
    ),
    _Plan(
        "nested",
        "That event, with the calls that the script made, exactly as they were recorded.",
        "history_read",
        lambda told: {
            "session": told["scripts"]["items"][0]["session"],
            "seq": told["scripts"]["items"][0]["seq"],
        },
    ),
)


def play() -> Iterator[Scene]:
    """Make every call of the demo, in a scratch folder that is deleted at the end."""
    with tempfile.TemporaryDirectory(prefix="hindnote-demo-") as folder:
        dispatcher, call = _stage(Path(folder).resolve())
        told: dict[str, Mapping[str, Any]] = {}
        for plan in PLANS:
            arguments = plan.arguments(told)
            answer = dispatcher.call(call, plan.operation, arguments)
            told[plan.name] = answer.result
            yield Scene(plan.title, plan.operation, arguments, answer)


def _stage(folder: Path) -> tuple[Dispatcher, HostCall]:
    """Create the sessions, a workspace and an empty notes home in ``folder``."""
    workspace = folder / "workspace" / "demo"
    (workspace / ".git").mkdir(parents=True)
    sessions = folder / "sessions"
    sessions.mkdir()
    recorded = files("hindnote.core.demo")
    for packaged, name in _SESSIONS.items():
        (sessions / name).write_bytes((recorded / packaged).read_bytes())
    call = HostCall(
        host="pi",
        session_file=sessions / _SESSIONS["greeting.jsonl"],
        cwd=workspace,
        config_dir=folder / "config",
        agent="root",
        model="mock-1",
    )
    return Dispatcher(Hosts.load(), folder / "notes"), call
