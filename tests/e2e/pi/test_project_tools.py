"""The project tools as the model and a codemode script meet them in the real Pi."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from model import ScriptedModel, Text, ToolCall, Turn
from pi_host import Pi, output, script

from hindnote.core.project import tools as project
from hindnote.core.project.run import ToolAnswer, run_tool
from hindnote.core.tools.registry import NAMES

DONE = Turn(Text("done"))

EVERY_TOOL = """
const results = {};
async function call(name, args) { return (results[name] = await tools[name](args)); }
const created = await call("project_todo_create", {title: "Ship it", priority: "p1", body: "Soon."});
const {path, hash} = created.data.todo;
await call("project_todo_inspect", {path});
await call("project_todo_transition", {path, to_status: "ready", expected_content_hash: hash});
await call("project_todo_allocate", {});
await call("project_todo_validate", {});
await call("project_todo_list", {});
await call("project_artifact_describe", {});
await call("project_artifact_search", {query: "ship"});
return results;
"""

REFUSED = """
const refused = await tools.project_todo_create({title: "Outside", priority: "p1", body: "", workspace_root: ".."});
const escaped = await tools.project_artifact_search({query: "secret", docs_root: "way-out"});
const wrong = await tools.project_todo_list({cwd: "x"}).catch((error) => String(error));
return {refused, escaped, wrong};
"""


@pytest.fixture
def docs(pi: Pi) -> Path:
    """The project's documents: one."""
    docs = pi.project / "docs"
    docs.mkdir()
    (docs / "plan.md").write_text("---\ntags: [ops]\n---\n# Plan\n\nShip it in June.\n", "utf-8")
    return docs


def as_declared(name: str, result: dict[str, Any]) -> bool:
    """Return whether a script's result is what the tool's closed schema says."""
    return Draft202012Validator(project.output_schema(name)).is_valid(result)


def printed(pi: Pi, *command: str) -> Any:
    """Return the output that a command prints for the same state."""
    return json.loads(pi.hindnote(*command, "--json").stdout)


@pytest.mark.usefixtures("docs")
def test_a_script_gets_the_dto_of_each_of_the_eight(pi: Pi, model: ScriptedModel) -> None:
    (pi.home / "outside").mkdir()
    (pi.home / "outside" / "secret.md").write_text("secret")
    (pi.project / "way-out").symlink_to(pi.home / "outside")
    model.then(Turn(script(EVERY_TOOL)), Turn(script(REFUSED)), DONE)

    pi.say("hello")

    results = output(model.played[1].results[0])
    assert sorted(results) == sorted(project.TOOLS)
    for name, result in results.items():
        assert result["ok"] is True, result
        assert as_declared(name, result), name
    assert [path.name for path in (pi.project / "todos").iterdir()] == ["001-ready-p1-ship-it.md"]
    assert results["project_todo_list"] == printed(pi, "todo", "list")
    described = printed(pi, "docs", "describe")
    assert results["project_artifact_describe"]["data"] == described["data"]
    assert results["project_artifact_describe"]["completeness"] == described["completeness"]
    hits = results["project_artifact_search"]["data"]["results"]
    assert hits == printed(pi, "docs", "search", "ship")["data"]["results"]
    assert len(hits) == 2

    beyond = output(model.played[2].results[0])
    for name, refused in (("create", beyond["refused"]), ("search", beyond["escaped"])):
        assert refused["ok"] is False, name
        assert refused["error"]["code"] == "outside_workspace", name
        assert refused["effects"]["documents"] == refused["effects"]["cache"] == "none"
    assert "cwd" in beyond["wrong"]
    assert sorted(path.name for path in (pi.home / "outside").iterdir()) == ["secret.md"]
    assert not (pi.home / "todos").exists()
    assert not (pi.home / ".hindnote").exists()

    sent = json.dumps(model.played[0].body)
    assert [name for name in project.TOOLS if name in sent] == []


def test_a_session_that_needs_none_finds_them_all_the_same(pi: Pi, model: ScriptedModel) -> None:
    find = "return (await searchTools('todo', {limit: 20})).map((tool) => tool.name)"
    model.then(Turn(script(find)), DONE)

    pi.say("hello")

    found = output(model.played[1].results[0])
    assert {name for name in project.TOOLS if "todo" in name} <= set(found)


def test_codemode_names_them_where_the_person_says_so(pi: Pi, model: ScriptedModel) -> None:
    pi.extra_env["HINDNOTE_PROJECT_TOOLS"] = "codemode"
    model.then(DONE)

    pi.say("hello")

    offered = model.played[0].tools
    assert set(project.TOOLS).isdisjoint(offered)
    assert all(name in offered["codemode"]["description"] for name in project.TOOLS)


def test_the_model_calls_them_where_the_person_says_so(pi: Pi, model: ScriptedModel) -> None:
    pi.extra_env["HINDNOTE_PROJECT_TOOLS"] = "direct"
    todo = {"title": "Ship it", "priority": "p1", "body": "Soon."}
    answers: list[ToolAnswer] = []
    twin = "---\nissue_id: 1\nstatus: pending\npriority: p1\n---\n"

    def conflict(_request: object) -> list[ToolCall]:
        answers.append(run_tool("project_todo_list", {}, base_cwd=pi.project))
        (pi.project / "todos" / "001-pending-p1-twin.md").write_text(twin)
        again = f"return await tools.project_todo_create({json.dumps(todo)})"
        return [ToolCall("project_todo_create", todo), script(again)]

    model.then(
        Turn(ToolCall("project_todo_create", todo)),
        Turn(
            ToolCall("project_todo_list", {}),
            script("return await tools.project_todo_list({})"),
        ),
        Turn(conflict),
        DONE,
    )

    pi.say("hello")

    for name, tool in project.TOOLS.items():
        assert model.played[0].tools[name]["description"].startswith(tool.description)
    [system] = {request.system for request in model.played}
    assert "- project_todo_list: " in system
    created, looked, failed = model.played[1:]
    assert not created.results[0].is_error
    listed = output(looked.results[1])
    facts, receipt = looked.results[0].text.split("\n", 1)
    assert json.loads(facts) == listed["data"]
    assert receipt.startswith("complete: nothing omitted")
    assert looked.results[0].text == answers[0].text
    direct, scripted = failed.results
    assert direct.is_error
    assert direct.text.startswith("error: todo_conflict: ")
    refusal = output(scripted)
    assert refusal["ok"] is False
    assert refusal["error"]["code"] == "todo_conflict"
    assert {"001-pending-p1-twin.md", "001-pending-p1-ship-it.md"} == {
        path.name for path in (pi.project / "todos").iterdir()
    }
    stored = [
        entry["message"]
        for entry in pi.entries()
        if entry.get("message", {}).get("toolName") == "project_todo_list"
    ]
    assert [set(message["details"]) for message in stored] == [
        {"tool", "summary", "counts", "rows"}
    ]


def test_they_take_no_room_from_the_seven_and_can_be_left_out(pi: Pi, model: ScriptedModel) -> None:
    pi.settings(codemode={"mode": "only"})
    model.then(Turn(script("return ALL_TOOLS.map((tool) => tool.name)")), DONE)
    pi.say("with")
    pi.extra_env["HINDNOTE_PROJECT_TOOLS"] = "off"
    model.then(Turn(script("return ALL_TOOLS.map((tool) => tool.name)")), DONE)

    pi.say("without")

    with_them, _, without, _ = model.played
    described = with_them.tools["codemode"]["description"]
    assert described == without.tools["codemode"]["description"]
    assert sum(f"### `{name}`" in described for name in NAMES) >= 6
    assert set(project.TOOLS) <= set(output(model.played[1].results[0]))
    assert set(project.TOOLS).isdisjoint(output(model.played[3].results[0]))


def test_a_setting_that_is_none_is_told_where_there_is_no_terminal(
    pi: Pi, model: ScriptedModel
) -> None:
    pi.extra_env["HINDNOTE_PROJECT_TOOLS"] = "Direct"
    model.then(DONE)

    said = pi.say("hello")

    assert said.stderr == (
        "hindnote: HINDNOTE_PROJECT_TOOLS is none of deferred, codemode, direct, off; "
        "it counts as unset\n"
    )
    assert "hindnote" not in said.stdout
