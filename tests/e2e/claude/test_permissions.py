"""Who decides whether a call runs: the person's rules and hooks, and the permission modes.

Each test looks at three things: what ran (notes and todos on disk), what the model was
sent, and what the person's hooks logged.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from claude_host import DONE, PREFIX, Claude, results, tool
from model import Request, Result, Text, ToolCall, Turn

MODES = ("default", "acceptEdits", "plan", "dontAsk", "auto", "bypassPermissions")
SAID = "the person's hook says so"
READ = tool("notes_list")
WRITE = tool("notes_write", address="@human/plan", content="Ship it.")
READ_NOTHING = tool("notes_read", address="none")
TODO = {"title": "Ship it", "priority": "p1", "body": "Soon."}
CREATE = tool("project_todo_create", **TODO)


def asked(claude: Claude, *calls: Any, mode: str = "default") -> list[Result]:
    """Make calls one after the other, in a run that can ask nobody; return their results."""
    claude.extra["HINDNOTE_PROJECT_TOOLS"] = "direct"
    if mode == "bypassPermissions":
        # Claude Code takes this mode as root only where it is told that it is in a sandbox.
        claude.extra["IS_SANDBOX"] = "1"
    claude.model.then(*[Turn(call) for call in calls], DONE)
    claude.run("go", "--permission-mode", mode)
    return [result for request in claude.model.played[1:] for result in results(request)]


def decision(kind: str, **more: Any) -> dict[str, Any]:
    """What a PreToolUse hook answers."""
    answer = {"permissionDecision": kind, "permissionDecisionReason": SAID}
    return {"hookEventName": "PreToolUse", **answer, **more}


def wrote(claude: Claude) -> bool:
    return (claude.notes / "human" / "plan.md").exists()


def todos(claude: Claude) -> list[str]:
    return sorted(file.name for file in claude.project.rglob("*.md"))


# -- without a rule ------------------------------------------------------------


@pytest.mark.parametrize("mode", [mode for mode in MODES if mode != "plan"])
def test_without_a_rule_the_notes_tools_run_and_the_hooks_hear_of_each_call(
    claude: Claude, mode: str
) -> None:
    claude.settings(hooks=claude.logging_hooks())

    listed, written, refused = asked(claude, READ, WRITE, READ_NOTHING, mode=mode)

    assert (listed.is_error, listed.text) == (False, "0 notes")
    assert not written.is_error
    assert wrote(claude)
    # Bare: neither a name nor a tag of the host's around it.
    assert refused.is_error
    assert refused.text == "error: not_found: there is no note “none.md”"
    assert claude.hooked() == [
        ("PreToolUse", "notes_list"),
        ("PostToolUse", "notes_list"),
        ("PreToolUse", "notes_write"),
        ("PostToolUse", "notes_write"),
        ("PreToolUse", "notes_read"),
        ("PostToolUseFailure", "notes_read"),
    ]


def test_in_plan_mode_reading_tools_answer_and_nothing_is_written(claude: Claude) -> None:
    claude.settings(hooks=claude.logging_hooks())

    listed, history, look, nothing, written, created, allocated = asked(
        claude,
        READ,
        tool("history_read", seq=1),
        tool("project_artifact_describe"),
        READ_NOTHING,
        WRITE,
        CREATE,
        tool("project_todo_allocate"),
        mode="plan",
    )

    assert (listed.is_error, listed.text) == (False, "0 notes")
    assert not history.is_error
    assert not look.is_error
    # Claude Code puts its own tag around a refusal that is answered in plan mode.
    told = "error: not_found: there is no note “none.md”"
    assert nothing.is_error
    assert nothing.text == f"<tool_use_error>{told}</tool_use_error>"
    for refused in (written, created, allocated):
        assert refused.is_error
        assert refused.text.endswith("while in plan mode.")
    assert not wrote(claude)
    assert todos(claude) == []
    assert [event for event, _ in claude.hooked()] == ["PreToolUse"] * 7


def test_calls_of_one_answer_in_plan_mode_get_each_their_own(claude: Claude) -> None:
    for name in ("a", "b"):
        (claude.notes / "human").mkdir(parents=True, exist_ok=True)
        (claude.notes / "human" / f"{name}.md").write_text(f"note {name}")
    claude.model.then(
        Turn(
            tool("notes_read", address="@human/a"),
            WRITE,
            tool("notes_read", address="@human/b"),
            # Names that the host needs for itself.
            tool("notes_list", tool="x", agentId="y"),
        ),
        DONE,
    )

    claude.run("go", "--permission-mode", "plan")

    first, written, second, wrong = results(claude.model.played[1])
    assert "note a" in first.text
    assert written.is_error
    assert "note b" in second.text
    assert "agentId: unknown field" in wrong.text
    assert "tool: unknown field" in wrong.text


@pytest.mark.parametrize(
    ("mode", "runs"),
    [
        ("default", False),
        ("acceptEdits", True),
        ("plan", False),
        ("dontAsk", False),
        ("bypassPermissions", True),
    ],
)
def test_a_tool_that_changes_todos_gets_what_an_edit_would_get(
    claude: Claude, mode: str, runs: bool
) -> None:
    (result,) = asked(claude, CREATE, mode=mode)

    assert result.is_error is not runs
    assert todos(claude) == (["001-pending-p1-ship-it.md"] if runs else [])


@pytest.mark.parametrize(
    ("rules", "mode", "runs"),
    [
        ({"allow": ["Edit(todos/**)"]}, "default", True),
        ({"allow": ["Edit(docs/**)"]}, "default", False),
        ({"allow": [PREFIX + "project_todo_create"]}, "default", True),
        ({"deny": ["Edit(todos/**)"]}, "acceptEdits", False),
        ({"ask": ["Edit(todos/**)"]}, "acceptEdits", False),
    ],
)
def test_rules_for_edits_hold_for_the_folder_of_the_todos(
    claude: Claude, rules: dict[str, list[str]], mode: str, runs: bool
) -> None:
    claude.settings(**rules)

    (result,) = asked(claude, CREATE, mode=mode)

    assert result.is_error is not runs
    assert bool(todos(claude)) is runs


def test_the_folder_that_a_call_names_is_the_one_that_the_rules_are_asked_about(
    claude: Claude,
) -> None:
    claude.settings(allow=["Edit(todos/**)"])
    made = tool("project_todo_create", todos_root="todos/../other", **TODO)

    (result,) = asked(claude, made)

    assert result.is_error
    assert todos(claude) == []


# -- with a rule ---------------------------------------------------------------


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("rule", [PREFIX + "notes_write", "mcp__hindnote__*", "mcp__hindnote"])
def test_an_ask_rule_asks_in_every_mode_and_where_nobody_can_be_asked_it_refuses(
    claude: Claude, mode: str, rule: str
) -> None:
    claude.settings(ask=[rule])

    (result,) = asked(claude, WRITE, mode=mode)

    assert result.is_error
    assert not wrote(claude)


def test_an_ask_rule_for_a_reading_tool_holds_in_plan_mode(claude: Claude) -> None:
    claude.settings(ask=[PREFIX + "notes_list"])

    (result,) = asked(claude, READ, mode="plan")

    assert result.is_error
    assert "notes" in result.text
    assert "0 notes" not in result.text


@pytest.mark.parametrize("mode", MODES)
def test_a_deny_rule_takes_the_tool_away_in_every_mode(claude: Claude, mode: str) -> None:
    claude.settings(deny=[PREFIX + "notes_write"])

    (result,) = asked(claude, WRITE, mode=mode)

    assert PREFIX + "notes_write" not in claude.model.played[0].tools
    assert result.is_error
    assert not wrote(claude)


def test_an_allow_rule_does_not_write_in_plan_mode(claude: Claude) -> None:
    claude.settings(allow=["mcp__hindnote"])

    listed, written, created = asked(claude, READ, WRITE, CREATE, mode="plan")

    assert (listed.is_error, listed.text) == (False, "0 notes")
    assert written.is_error
    assert created.is_error
    assert not wrote(claude)
    assert todos(claude) == []


# -- with a hook ---------------------------------------------------------------


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", ["deny", "ask"])
def test_a_hooks_deny_and_ask_hold_in_every_mode(claude: Claude, mode: str, kind: str) -> None:
    claude.settings(hooks=claude.logging_hooks(decision(kind)))

    listed, written = asked(claude, READ, WRITE, mode=mode)

    for result in (listed, written):
        assert result.is_error
        assert SAID in result.text
    assert not wrote(claude)
    assert claude.hooked() == [("PreToolUse", "notes_list"), ("PreToolUse", "notes_write")]


def test_a_hook_allows_a_todo(claude: Claude) -> None:
    claude.settings(hooks=claude.logging_hooks(decision("allow")))

    (result,) = asked(claude, CREATE)

    assert not result.is_error
    assert todos(claude) == ["001-pending-p1-ship-it.md"]


@pytest.mark.parametrize("mode", ["default", "plan"])
def test_the_arguments_that_a_hook_puts_in_place_are_the_ones_that_run(
    claude: Claude, mode: str
) -> None:
    (claude.notes / "human").mkdir(parents=True)
    (claude.notes / "human" / "other.md").write_text("the other note")
    changed = {"hookEventName": "PreToolUse", "updatedInput": {"address": "@human/other"}}
    claude.settings(hooks=claude.logging_hooks(changed))

    (result,) = asked(claude, READ_NOTHING, mode=mode)

    assert not result.is_error, result.text
    assert "the other note" in result.text


def test_a_rule_for_edits_is_asked_about_the_folder_that_a_hook_puts_in_place(
    claude: Claude,
) -> None:
    changed = {"hookEventName": "PreToolUse", "updatedInput": {**TODO, "todos_root": "other"}}
    claude.settings(hooks=claude.logging_hooks(changed), allow=["Edit(todos/**)"])

    (result,) = asked(claude, CREATE)

    assert result.is_error
    assert todos(claude) == []


def test_the_hooks_hear_of_a_subagents_calls_and_are_obeyed(claude: Claude) -> None:
    errand = "SUBAGENT ERRAND"
    agent = {"description": "errand", "prompt": errand, "subagent_type": "general-purpose"}

    def is_subagents(request: Request) -> bool:
        return bool(request.tools) and errand in json.dumps(request.messages[0])

    def is_mains(request: Request) -> bool:
        return bool(request.tools) and not is_subagents(request)

    claude.settings(hooks=claude.logging_hooks(decision("deny")))
    claude.model.then(
        Turn(ToolCall("Agent", agent), when=is_mains),
        Turn(WRITE, when=is_subagents),
        Turn(Text("Not allowed."), when=is_subagents),
        *[Turn(Text("Sent."), when=is_mains) for _ in range(2)],
    )

    claude.run("send somebody")

    (event,) = claude.hook_events()
    assert event["agent_id"]
    assert not wrote(claude)


# -- other plugins -------------------------------------------------------------

GUARD = """\
export const register = on => {
  on('%s', { tool: 'mcp__hindnote__notes_list' }, %s)
}
"""


def guard(folder: Path, event: str, hook: str) -> str:
    """Write a plugin of somebody else's with one hook on a tool of ours; return its folder."""
    (folder / "hooks").mkdir(parents=True)
    (folder / ".claude-plugin").mkdir()
    manifest = {"name": "guard", "version": "0.1.0", "description": "holds a tool back"}
    (folder / ".claude-plugin" / "plugin.json").write_text(json.dumps(manifest))
    (folder / "hooks" / "hooks.json").write_text(json.dumps({"modules": ["./register.ts"]}))
    (folder / "hooks" / "register.ts").write_text(GUARD % (event, hook))
    return str(folder)


@pytest.mark.parametrize("mode", ["default", "plan", "acceptEdits"])
@pytest.mark.parametrize(
    ("event", "hook"),
    [
        ("tool.check", "() => ({ decision: 'deny', reason: 'guarded' })"),
        ("tool.call", "() => ({ deny: 'guarded' })"),
        (
            "tool.check",
            """async ($, e, next) => {
                const below = await next(e)
                return below.decision === 'deny' ? below : { decision: 'deny', reason: 'guarded' }
            }""",
        ),
    ],
    ids=["check", "call", "check, where nobody else has refused"],
)
def test_another_plugins_deny_holds(
    claude: Claude, tmp_path: Path, mode: str, event: str, hook: str
) -> None:
    plugin = guard(tmp_path / "guard", event, hook)
    claude.model.then(Turn(READ), DONE)

    claude.run("go", "--permission-mode", mode, "--plugin-dir", plugin)

    (result,) = results(claude.model.played[1])
    assert result.is_error
    assert "0 notes" not in result.text
