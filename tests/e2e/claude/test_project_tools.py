"""The project tools in the real Claude Code: found by its tool search, or in front of the model."""

from __future__ import annotations

import json

from claude_host import DONE, PREFIX, Claude, results, texts, tool
from model import Request, ToolCall, Turn

from hindnote.core.project import tools as project
from hindnote.core.project.run import run_tool
from hindnote.core.tools.schema import opened

OURS = {PREFIX + name for name in project.TOOLS}


def test_the_tools_wait_behind_the_hosts_search_and_answer_with_their_text(claude: Claude) -> None:
    (claude.project / "docs").mkdir()
    (claude.project / "docs" / "plan.md").write_text("# Plan\n\nShip it in June.\n", "utf-8")
    wanted = [f"project_{name}" for name in ("artifact_search", "todo_create", "todo_transition")]
    query = "select:" + ",".join(PREFIX + name for name in wanted)
    todo = {"title": "Ship it", "priority": "p1", "body": "Soon."}

    def transition(request: Request) -> list[ToolCall]:
        made = json.loads(texts(request)[0].splitlines()[0])["todo"]
        given = {"to_status": "ready", "expected_content_hash": made["hash"]}
        return [tool("project_todo_transition", path=made["path"], **given)]

    model = claude.model
    model.then(
        Turn(ToolCall("ToolSearch", {"query": query, "max_results": 5})),
        Turn(tool("project_todo_create", **todo)),
        Turn(transition),
        Turn(tool("project_artifact_search", query="ship")),
        Turn(
            tool("project_todo_create", workspace_root="..", **todo),
            tool("project_artifact_search", query=5),
        ),
        DONE,
    )

    # Nobody can be asked here, and a todo is asked about like an edit.
    session = claude.run("make a todo", "--allowedTools", "mcp__hindnote")

    assert OURS.isdisjoint(model.played[0].tools)
    assert all(name in model.played[0].everything for name in OURS)
    offered = OURS & set(model.played[1].tools)
    assert offered == {PREFIX + name for name in wanted}
    for name in wanted:
        declared = project.declaration(project.tool_named(name))
        assert model.played[1].tools[PREFIX + name]["input_schema"] == opened(
            declared["inputSchema"]
        )
    moved, found, refused = model.played[3:6]
    [file] = (claude.project / "todos").iterdir()
    assert file.name == "001-ready-p1-ship-it.md"
    assert "todos/001-ready-p1-ship-it.md" in texts(moved)[0]
    hits = run_tool("project_artifact_search", {"query": "ship"}, base_cwd=claude.project)
    assert json.loads(texts(found)[0].splitlines()[0])["results"] == hits.dto["data"]["results"]
    outside, wrong = results(refused)
    assert outside.is_error
    assert outside.text.startswith("error: outside_workspace: ")
    assert outside.text.endswith("effects: documents none, cache none")
    assert wrong.is_error
    assert "project_artifact_search: invalid arguments: query" in wrong.text
    assert not (claude.project.parent / "todos").exists()
    rows = json.dumps(claude.transcript(session), ensure_ascii=False)
    assert json.dumps(texts(found)[0], ensure_ascii=False)[1:-1] in rows


def test_the_tools_stand_in_front_of_the_model_where_the_person_says_so(claude: Claude) -> None:
    claude.extra["HINDNOTE_PROJECT_TOOLS"] = "direct"
    claude.model.then(Turn(tool("project_todo_list")), DONE)

    claude.run("look")

    assert set(claude.model.played[0].tools) >= OURS
    expected = run_tool("project_todo_list", {}, base_cwd=claude.project)
    (result,) = results(claude.model.played[1])
    assert (result.is_error, result.text) == (True, expected.text)
    assert expected.text.startswith("error: root_missing: ")
