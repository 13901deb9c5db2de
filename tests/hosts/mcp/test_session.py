"""What each message is answered with."""

from __future__ import annotations

import json
import tempfile
import threading
from pathlib import Path
from typing import Any

import pytest
from conversation import DECLARED, HOSTS, VERSIONS, Conversation, conversation
from hypothesis import given
from hypothesis import strategies as st

from hindnote.core.call import Dispatcher, HostFailure
from hindnote.hosts.mcp.calls import Caller, Settings, history_call, notes_call
from hindnote.hosts.mcp.versions import INSTRUCTIONS, STATELESS
from hindnote.hosts.mcp.wire import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    UNSUPPORTED_VERSION,
)

RECORDED = Path(__file__).parents[2] / "data" / "pi" / "basic.jsonl"
STATELESS_META = {
    "io.modelcontextprotocol/protocolVersion": STATELESS[0],
    "io.modelcontextprotocol/clientCapabilities": {},
}
PING = {"jsonrpc": "2.0", "id": "p", "method": "ping"}


class Held:
    """Carries calls out when it is let go."""

    def __init__(self) -> None:
        self.go = threading.Event()
        self.began: list[str] = []

    def call(self, name: str, arguments: Any, *_: object) -> dict[str, Any]:
        self.began.append(name)
        assert self.go.wait(30)
        return {"content": []}


# -- greeting and versions -------------------------------------------------------


@pytest.mark.parametrize("version", VERSIONS)
def test_the_version_that_is_asked_for_is_the_one_that_is_spoken(
    tmp_path: Path, version: str
) -> None:
    with conversation(tmp_path) as program:
        greeting = program.greet(version)
        tools = program.ask("tools/list")["result"]["tools"]
        called = program.call("notes_list")["result"]

    assert greeting["protocolVersion"] == version
    assert greeting["instructions"] == INSTRUCTIONS
    assert ("annotations" in tools[0]) is (version >= "2025-03-26")
    structured = version >= "2025-06-18"
    assert ("outputSchema" in tools[0], "title" in tools[0]) == (structured, structured)
    assert ("structuredContent" in called) is structured
    assert "resultType" not in called


@pytest.mark.parametrize("version", ["1999-01-01", "2026-07-28", "", "draft"])
def test_any_other_version_is_answered_with_the_latest_that_is_agreed_on(
    tmp_path: Path, version: str
) -> None:
    with conversation(tmp_path) as program:
        assert program.greet(version)["protocolVersion"] == VERSIONS[-1]


def test_before_the_greeting_only_a_sign_of_life_is_given(tmp_path: Path) -> None:
    with conversation(tmp_path) as program:
        assert program.ask("ping")["result"] == {}
        for method in ("tools/list", "tools/call"):
            assert program.ask(method)["error"]["code"] == INVALID_REQUEST
        assert program.ask("nothing/known")["error"]["code"] == METHOD_NOT_FOUND
        assert program.ask("initialize", {})["error"]["code"] == INVALID_PARAMS
        program.greet()
        assert program.ask("tools/list")["result"]["tools"]


def test_a_program_without_a_greeting_names_the_version_with_each_request(tmp_path: Path) -> None:
    with conversation(tmp_path) as program:
        found = program.ask("server/discover", {"_meta": STATELESS_META})["result"]
        listed = program.ask("tools/list", {"_meta": STATELESS_META})["result"]
        called = program.call("notes_list", STATELESS_META)["result"]
        life = program.ask("ping", {"_meta": STATELESS_META})
        other = {"io.modelcontextprotocol/protocolVersion": "2099-01-01"}
        unknown = program.ask("tools/list", {"_meta": other})

    assert found["supportedVersions"] == [STATELESS[0]]
    for result in (found, listed, called):
        assert result["resultType"] == "complete"
        assert result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "hindnote"
    assert {"ttlMs", "cacheScope"} <= found.keys() & listed.keys()
    assert life["error"]["code"] == METHOD_NOT_FOUND
    assert unknown["error"]["code"] == UNSUPPORTED_VERSION
    assert STATELESS[0] in unknown["error"]["data"]["supported"]


# -- what there is ---------------------------------------------------------------


def test_the_seven_are_declared_with_both_schemas_and_hints(talk: Conversation) -> None:
    tools = talk.ask("tools/list")["result"]["tools"]

    for tool, declared in zip(tools, DECLARED, strict=True):
        for key in ("name", "title", "description", "inputSchema", "outputSchema"):
            assert tool[key] == declared[key]
        assert tool["annotations"] == {
            "title": declared["title"],
            "readOnlyHint": declared["hints"]["readOnly"],
            "destructiveHint": declared["hints"]["destructive"],
            "idempotentHint": declared["hints"]["idempotent"],
            "openWorldHint": False,
        }


@pytest.mark.parametrize(
    "method",
    [
        "resources/list",
        "resources/templates/list",
        "resources/read",
        "prompts/list",
        "prompts/get",
        "logging/setLevel",
        "completion/complete",
        "tools/LIST",
        "",
        "\ud83d",
    ],
)
def test_what_is_not_served_is_said_to_be_unknown(talk: Conversation, method: str) -> None:
    assert talk.ask(method)["error"]["code"] == METHOD_NOT_FOUND


def test_there_is_no_second_page_of_tools(talk: Conversation) -> None:
    assert talk.ask("tools/list", {"cursor": "2"})["error"]["code"] == INVALID_PARAMS


# -- calls -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("notes_list", {}),
        ("notes_read", {"address": "plan"}),
        ("notes_search", {"query": "sqlite"}),
        ("history_list", {"limit": 3}),
        ("history_read", {"seq": 1}),
    ],
)
def test_a_result_is_what_the_dispatcher_delivers_in_both_forms(
    tmp_path: Path, name: str, arguments: dict[str, Any]
) -> None:
    told = {"session_id": "s-1", "history_of": "pi", "session_file": RECORDED}
    with conversation(tmp_path, **told) as program:
        program.greet()
        program.call("notes_write", address="plan", content="We use SQLite. \u2028 naïve 👋\n")
        result = program.call(name, **arguments)["result"]

    settings = Settings(tmp_path, tmp_path / "notes", **told)
    call = notes_call(settings, Caller(), tmp_path)
    if name.startswith("history"):
        call = history_call(settings, Caller(), tmp_path, HOSTS)
    wanted = Dispatcher(HOSTS, tmp_path / "notes").call(call, name, arguments)
    assert result == {
        "content": [{"type": "text", "text": wanted.text}],
        "structuredContent": wanted.result,
        "isError": False,
    }


def test_a_refusal_is_an_error_result_with_its_code(talk: Conversation) -> None:
    result = talk.call("notes_read", address="@human/absent")["result"]

    assert result["isError"] is True
    assert set(result["structuredContent"]) == {"error", "code"}
    text = result["content"][0]["text"]
    assert text == f"error: not_found: {result['structuredContent']['error']}"


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("notes_read", "{}", "address: Field required"),
        ("notes_read", '{"address": 5}', "address: Input should be a valid string"),
        ("notes_list", '{"globs": "*"}', "globs: unknown field"),
        ("history_read", '{"seq": ' + "9" * 5000 + "}", "seq: Input should be"),
        ("history_read", '{"seq": 1e999}', "seq: Input should be"),
        ("notes_list", '{"glob": ' + "[" * 900 + "]" * 900 + "}", "notes_list: "),
    ],
)
def test_wrong_arguments_are_an_error_result_with_a_text_alone(
    talk: Conversation, name: str, arguments: str, told: str
) -> None:
    request = f'"method":"tools/call","params":{{"name":"{name}","arguments":{arguments}}}'
    talk.send(f'{{"jsonrpc":"2.0","id":"a",{request}}}'.encode())
    result = talk.line()["result"]

    assert result["isError"] is True
    assert told in result["content"][0]["text"]
    assert "structuredContent" not in result


@pytest.mark.parametrize("name", ["no_such_tool", None, 5, ["notes_list"], "x" * 100_000])
def test_an_unknown_tool_is_a_protocol_error_that_names_those_that_are(
    talk: Conversation, name: Any
) -> None:
    error = talk.ask("tools/call", {"name": name})["error"]

    assert error["code"] == INVALID_PARAMS
    assert "notes_list, notes_read" in error["message"]
    assert len(error["message"]) < 300


@pytest.mark.parametrize("arguments", [[], "{}", 5, False])
def test_arguments_that_are_no_object_are_a_protocol_error(
    talk: Conversation, arguments: Any
) -> None:
    answer = talk.ask("tools/call", {"name": "notes_list", "arguments": arguments})

    assert answer["error"]["code"] == INVALID_PARAMS


@pytest.mark.parametrize("more", [{}, {"arguments": None}, {"_meta": None}, {"_meta": 5}])
def test_what_may_be_left_out_may_be_null(talk: Conversation, more: dict[str, Any]) -> None:
    assert talk.ask("tools/call", {"name": "notes_list", **more})["result"]["isError"] is False


def test_a_host_failure_is_an_internal_error_with_its_message(
    talk: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise HostFailure("the host is gone")

    monkeypatch.setattr(Dispatcher, "call", fail)

    assert talk.call("notes_list")["error"] == {
        "code": INTERNAL_ERROR,
        "message": "the host is gone",
    }


def test_a_crash_keeps_its_text_in_the_log(
    talk: Conversation, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def crash(*_: object) -> None:
        raise ZeroDivisionError("secret")

    monkeypatch.setattr(Dispatcher, "call", crash)
    error = talk.call("notes_list")["error"]

    assert error["code"] == INTERNAL_ERROR
    assert "secret" not in error["message"]
    assert "ZeroDivisionError: secret" in caplog.text


def test_a_call_is_answered_where_what_carries_it_out_cannot_be_loaded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    class Broken:
        def call(self, *_: object) -> None:
            raise ImportError("secret")

    told = Settings(directory=tmp_path, home=tmp_path / "notes")
    talk = Conversation(Broken(), told)
    talk.greet()
    errors = [talk.call("notes_list")["error"] for _ in range(20)]
    talk.close()

    assert {error["code"] for error in errors} == {INTERNAL_ERROR}
    assert not any("secret" in error["message"] for error in errors)
    assert "ImportError: secret" in capsys.readouterr().err


def test_half_of_a_character_becomes_the_replacement_character(
    talk: Conversation, tmp_path: Path
) -> None:
    talk.call("notes_write", address="@human/a", content="a \ud83d b \ud83d\udc4b\n")

    assert (tmp_path / "notes/human/a.md").read_text("utf-8").endswith("a \ufffd b 👋\n")


def test_calls_run_beside_each_other(talk: Conversation, tmp_path: Path) -> None:
    for number in range(12):
        arguments = {"address": f"@human/n{number}", "content": "x"}
        params = {"name": "notes_write", "arguments": arguments}
        talk.send({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})
    answers = [talk.line() for _ in range(12)]

    assert {answer["id"] for answer in answers} == set(range(12))
    assert len(list((tmp_path / "notes/human").glob("n*.md"))) == 12


# -- whose notes, whose history --------------------------------------------------

CODEX = {
    "sessionId": "main-1",
    "threadId": "thread-2",
    "callId": "call-3",
    "x-codex-turn-metadata": {"model": "Odd Model"},
}


def test_session_and_model_are_those_that_codex_tells(tmp_path: Path) -> None:
    with conversation(tmp_path) as program:
        program.greet()
        program.call("notes_write", CODEX, address="plan", content="x")
        program.call("notes_write", CODEX, address="@model/plan", content="x")

    assert (tmp_path / "notes/mcp/session/main-1/plan.md").is_file()
    assert (tmp_path / "notes/models/odd-model/plan.md").is_file()


def test_without_a_session_there_are_no_session_notes(talk: Conversation) -> None:
    result = talk.call("notes_write", address="plan", content="x")["result"]

    assert result["structuredContent"]["code"] == "no_current_session"


def test_history_that_cannot_be_read_is_not_said_to_come_yet(talk: Conversation) -> None:
    result = talk.call("history_list")["result"]["structuredContent"]

    assert result["code"] == "no_current_session"
    assert "the sessions of the program that calls (mcp) cannot be read" in result["error"]
    assert "yet" not in result["error"]


# -- messages of odd shapes ------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "id", "code"),
    [
        (b"{ torn", None, PARSE_ERROR),
        (b'{"jsonrpc":"2.0","id":4,"method":"ping","params":NaN}', 4, PARSE_ERROR),
        (b'{"jsonrpc":"2.0","id":"\xff","method":"ping"}', "\ufffd", PARSE_ERROR),
        (b'{"method":"ping","jsonrpc":"2.0","params":{"id":8},"id":9,"x":' + b"[" * 99_999, 9,
         PARSE_ERROR),
        (b"[]", None, INVALID_REQUEST),
        (b"5", None, INVALID_REQUEST),
        (b"null", None, INVALID_REQUEST),
        (b'"ping"', None, INVALID_REQUEST),
        (b"{}", None, INVALID_REQUEST),
        (b'{"jsonrpc":"2.0","id":4}', 4, INVALID_REQUEST),
        (b'{"jsonrpc":"2.0","id":4,"method":5}', 4, INVALID_REQUEST),
        (b'{"jsonrpc":"1.0","id":4,"method":"ping"}', 4, INVALID_REQUEST),
        (b'{"id":4,"method":"ping"}', 4, INVALID_REQUEST),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', None, INVALID_REQUEST),
        (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', None, INVALID_REQUEST),
        (b'{"jsonrpc":"2.0","id":[1],"method":"ping"}', None, INVALID_REQUEST),
        (b'{"jsonrpc":"2.0","id":1e999,"method":"ping"}', None, INVALID_REQUEST),
        (b'{"jsonrpc":"2.0","id":4,"method":"ping","params":[1]}', 4, INVALID_PARAMS),
    ],
)  # fmt: skip
def test_what_is_no_request_gets_one_error(
    talk: Conversation, line: bytes, id: object, code: int
) -> None:
    talk.send(line, PING)
    answer = talk.line()

    assert (answer["id"], answer["error"]["code"]) == (id, code)
    assert talk.line()["id"] == "p"


@pytest.mark.parametrize("id", ["", "0", 0, -1, 1.5, 10**30, "\ud83d", "\u2028", "x" * 100_000])
def test_an_id_comes_back_as_it_was_sent(talk: Conversation, id: Any) -> None:
    talk.send({**PING, "id": id})

    assert talk.line() == {"jsonrpc": "2.0", "id": id, "result": {}}


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"   ",
        b'{"jsonrpc":"2.0","method":"notifications/unknown"}',
        b'{"jsonrpc":"2.0","method":"notifications/cancelled"}',
        b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":77}}',
        b'{"jsonrpc":"2.0","id":"hindnote-roots-9","result":{}}',
        b'{"jsonrpc":"2.0","id":5,"error":{"code":-1,"message":"no"}}',
    ],
)
def test_what_asks_for_nothing_gets_no_answer(talk: Conversation, line: bytes) -> None:
    talk.send(line, PING)

    assert talk.line()["id"] == "p"


# -- batches ---------------------------------------------------------------------


def test_a_batch_of_the_version_that_has_them_gets_one_line_of_answers(tmp_path: Path) -> None:
    note = {"jsonrpc": "2.0", "method": "notifications/unknown"}
    params = {"name": "notes_list", "arguments": {}}
    call = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params}
    with conversation(tmp_path) as program:
        program.greet("2025-03-26")
        program.send([PING, note, call, 5], [note], [], PING)
        # A batch is answered when its last call is.
        lines = [program.line() for _ in range(3)]
    (batch,) = (line for line in lines if isinstance(line, list))
    empty, life = (line for line in lines if isinstance(line, dict))

    assert {answer["id"] for answer in batch} == {"p", 2, None}
    assert empty["error"]["code"] == INVALID_REQUEST
    assert life["id"] == "p"


@pytest.mark.parametrize("version", sorted({*VERSIONS} - {"2025-03-26"}))
def test_each_request_of_a_batch_without_batches_gets_an_error(
    tmp_path: Path, version: str
) -> None:
    with conversation(tmp_path) as program:
        program.greet(version)
        program.send([PING, {**PING, "id": 2}, {"jsonrpc": "2.0", "method": "x"}], [5], PING)
        answers = [program.line() for _ in range(4)]

    assert [answer["id"] for answer in answers] == ["p", 2, None, "p"]
    assert [answer["error"]["code"] for answer in answers[:3]] == [INVALID_REQUEST] * 3


# -- cancelling ------------------------------------------------------------------


def held(folder: Path, **more: Any) -> tuple[Held, Conversation]:
    toolbox = Held()
    program = Conversation(toolbox, Settings(folder, folder / "notes"), **more)
    program.greet()
    return toolbox, program


def begin(program: Conversation, id: Any) -> None:
    params = {"name": "notes_list", "arguments": {}}
    program.send({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})


def test_a_cancelled_call_is_not_answered_and_others_are(tmp_path: Path) -> None:
    toolbox, program = held(tmp_path)
    begin(program, 1)
    begin(program, "1")
    program.tell("notifications/cancelled", {"requestId": 1})
    assert program.ask("ping", None)["result"] == {}
    toolbox.go.set()

    assert [answer["id"] for answer in program.rest()] == ["1"]
    program.close()


def test_a_call_that_takes_too_long_is_answered_all_the_same(tmp_path: Path) -> None:
    toolbox, program = held(tmp_path, limit=0.05)
    begin(program, 1)

    assert "took longer than" in program.line()["error"]["message"]
    toolbox.go.set()
    assert program.rest() == []
    program.close()


# -- any line ----------------------------------------------------------------------

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)
METHODS = st.sampled_from(
    ["initialize", "ping", "tools/list", "tools/call", "prompts/list", "notifications/cancelled"]
)
OBJECTS = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.just("2.0") | JSON,
        "id": JSON,
        "method": METHODS | JSON,
        "params": st.fixed_dictionaries(
            {},
            optional={
                "name": st.sampled_from(["notes_list", "history_read", "x"]) | JSON,
                "arguments": JSON,
                "protocolVersion": st.sampled_from(VERSIONS) | JSON,
                "capabilities": JSON,
                "_meta": st.just(STATELESS_META) | st.just(CODEX) | JSON,
            },
        )
        | JSON,
        "result": JSON,
    },
)
LINES = st.one_of(
    (OBJECTS | st.lists(OBJECTS, max_size=3)).map(lambda one: json.dumps(one).encode()),
    st.binary(max_size=30).map(lambda line: line.replace(b"\n", b"")),
)


@given(st.lists(LINES, max_size=10))
def test_every_line_gets_the_number_of_answers_that_it_asks_for(lines: list[bytes]) -> None:
    with tempfile.TemporaryDirectory() as folder, conversation(Path(folder)) as program:
        program.send(*lines)
        program.send({**PING, "id": "the last one"})
        answers = program.rest()

    told = [one for answer in answers for one in (answer if isinstance(answer, list) else [answer])]
    told = [one for one in told if one.get("method") != "roots/list"]
    assert sum(one["id"] == "the last one" for one in told) == 1
    least, most = (sum(side) for side in zip(*map(expected, lines), (1, 1), strict=True))
    assert least <= len(told) <= most
    assert all(("result" in one) is not ("error" in one) for one in told)


def expected(line: bytes) -> tuple[int, int]:
    """Return how many answers a line gets, at least and at most."""
    if not line.strip():
        return 0, 0
    try:
        value = json.loads(line, parse_constant=lambda name: json.loads("x"))
    except (ValueError, RecursionError):
        return 1, 1
    if not isinstance(value, list):
        return (asks(value),) * 2
    # In a version with batches each message is answered; in others each request is, or the line.
    requests = sum(asks(one) for one in value)
    return min(1, len(value)) and (requests and 1), max(1, requests)


def asks(value: Any) -> int:
    if not isinstance(value, dict):
        return 1
    if "method" not in value:
        return 0 if value.keys() & {"result", "error"} else 1
    valid = value.get("jsonrpc") == "2.0" and isinstance(value["method"], str)
    return 0 if valid and "id" not in value else 1
