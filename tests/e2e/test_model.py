from __future__ import annotations

import json
import threading
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from model import SIDE_ANSWER, Hold, ScriptedModel, Text, ToolCall, Turn, says

TOOLS = [{"name": "look", "input_schema": {"type": "object"}}]


def ask(model: ScriptedModel, path: str = "/v1/messages", **body: Any) -> bytes:
    data = json.dumps({"model": "m", "messages": [], **body}).encode()
    with urllib.request.urlopen(f"{model.url}{path}", data, timeout=10) as answer:
        content: bytes = answer.read()
    return content


def events(raw: bytes) -> list[dict[str, Any]]:
    lines = raw.decode().splitlines()
    return [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: ")]


def test_turns_are_played_in_order_and_requests_recorded(model: ScriptedModel) -> None:
    model.then(Turn(Text("hi"), ToolCall("look", {"é": 1}, id="t1")), Turn(Text("end")))

    first = json.loads(ask(model, tools=TOOLS))
    second = json.loads(ask(model, tools=TOOLS))

    assert first["content"] == [
        {"type": "text", "text": "hi"},
        {"type": "tool_use", "id": "t1", "name": "look", "input": {"é": 1}},
    ]
    assert (first["stop_reason"], second["stop_reason"]) == ("tool_use", "end_turn")
    assert len(model.played) == 2
    assert model.left == []


def test_a_streamed_answer_holds_the_same_blocks(model: ScriptedModel) -> None:
    model.then(Turn(ToolCall("look", {"a": "ü"}, id="t1")))

    streamed = events(ask(model, tools=TOOLS, stream=True))

    kinds = [event["type"] for event in streamed]
    assert kinds[0] == "message_start"
    assert kinds[-1] == "message_stop"
    assert json.loads(streamed[2]["delta"]["partial_json"]) == {"a": "ü"}
    assert streamed[-2]["delta"]["stop_reason"] == "tool_use"


def test_a_request_without_tools_leaves_the_script_alone(model: ScriptedModel) -> None:
    model.then(Turn(Text("main")))

    assert SIDE_ANSWER.encode() in ask(model)

    assert len(model.side_jobs) == 1
    assert len(model.left) == 1


def test_a_predicate_picks_the_turn(model: ScriptedModel) -> None:
    model.then(Turn(Text("for b"), when=says("beta")), Turn(Text("for a"), when=says("alpha")))

    answer = json.loads(ask(model, messages=[{"role": "user", "content": "alpha"}]))

    assert answer["content"][0]["text"] == "for a"


def test_a_hold_keeps_the_answer_back_until_its_event(model: ScriptedModel) -> None:
    gate = threading.Event()
    model.then(Turn(Hold(gate), Text("late")))

    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(ask, model, tools=TOOLS)
        model.wait_for(lambda seen: len(seen.requests) == 1)
        assert not future.done()
        gate.set()
        assert b"late" in future.result(10)


def test_results_of_the_last_message_are_readable(model: ScriptedModel) -> None:
    blocks = [
        {"type": "tool_result", "tool_use_id": "t1", "content": "one", "is_error": True},
        {"type": "tool_result", "tool_use_id": "t2", "content": [{"type": "text", "text": "2"}]},
    ]
    ask(model, tools=TOOLS, messages=[{"role": "user", "content": blocks}])

    [request] = model.requests
    assert [(r.text, r.is_error) for r in request.results] == [("one", True), ("2", False)]


def test_token_counts_and_unknown_paths_are_answered(model: ScriptedModel) -> None:
    assert json.loads(ask(model, "/v1/messages/count_tokens"))["input_tokens"] > 0
    assert ask(model, "/api/whatever") == b"{}"


def test_a_status_makes_the_turn_an_error(model: ScriptedModel) -> None:
    model.then(Turn(status=529))

    with pytest.raises(urllib.error.HTTPError) as caught:
        ask(model, tools=TOOLS)

    assert caught.value.code == 529
    caught.value.close()
