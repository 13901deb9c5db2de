from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from helper_process import Recorder, once, request

from hindnote.core.project.run import run_tool
from hindnote.hosts.claude.__main__ import main
from hindnote.hosts.claude.helper import BODY_LIMIT

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Unix sockets")


# -- one request ---------------------------------------------------------------


def test_one_shot_answers_with_envelope_and_text_alone(tmp_path: Path, recorder: Recorder) -> None:
    status, response = once(json.dumps(request(tmp_path)).encode())

    assert status == 0
    assert response == {
        "outcome": {"ok": True, "data": {"said": "hello\u2028"}},
        "text": "hello\u2028 text",
        "isError": False,
    }
    assert recorder.calls[0].host == "claude"
    assert recorder.calls[0].call_id == "toolu_1"


def test_a_refusal_is_an_answer(tmp_path: Path, recorder: Recorder) -> None:
    status, response = once(json.dumps(request(tmp_path, do="refuse")).encode())

    assert status == 0
    assert response["isError"] is True
    assert response["outcome"] == {
        "ok": False,
        "error": {"code": "not_found", "message": "no such note"},
    }
    assert response["text"] == "error: not_found: no such note"


def test_a_project_tool_is_answered_with_its_text_alone(tmp_path: Path, recorder: Recorder) -> None:
    asked = {"kind": "project", "tool": "project_todo_list", "arguments": {}}
    asked["call"] = request(tmp_path)["call"]

    status, response = once(json.dumps(asked).encode())
    wrong = once(json.dumps({**asked, "arguments": {"cwd": "x"}}).encode())
    unknown = once(json.dumps({**asked, "tool": "notes_list"}).encode())

    answer = run_tool("project_todo_list", {}, base_cwd=tmp_path)
    assert status == 0
    assert response == {"text": answer.text, "isError": True}
    assert (wrong[0], wrong[1]["failure"]["kind"]) == (2, "arguments")
    assert (unknown[0], unknown[1]["failure"]["kind"]) == (2, "host")


@pytest.mark.parametrize(
    ("do", "kind", "message"),
    [
        ("bad arguments", "arguments", "notes_list: invalid arguments: x"),
        ("host failure", "host", "no host"),
    ],
)
def test_a_failure_is_told_from_a_refusal(
    tmp_path: Path, recorder: Recorder, do: str, kind: str, message: str
) -> None:
    status, response = once(json.dumps(request(tmp_path, do=do)).encode())

    assert status == 2
    assert response == {"failure": {"kind": kind, "message": message}}


def test_a_crash_is_logged_and_its_text_kept_from_the_model(
    tmp_path: Path, recorder: Recorder, capsys: pytest.CaptureFixture[str]
) -> None:
    status, response = once(json.dumps(request(tmp_path, do="crash")).encode())

    assert status == 2
    assert response["failure"]["kind"] == "crash"
    assert "secret" not in response["failure"]["message"]
    assert "RuntimeError: secret in the trace" in capsys.readouterr().err


def test_the_boot_block_is_a_text(tmp_path: Path, recorder: Recorder) -> None:
    asked = {
        "kind": "boot",
        "call": {"session_id": "s1", "cwd": str(tmp_path)},
        "tools": ["notes_list"],
    }

    assert once(json.dumps(asked).encode()) == (0, {"text": "what there is for ['notes_list']"})
    assert recorder.calls[0].session_id == "s1"


def test_a_boot_block_that_is_refused_is_a_failure(tmp_path: Path, recorder: Recorder) -> None:
    asked = {
        "kind": "boot",
        "call": {"session_id": "broken", "cwd": str(tmp_path)},
        "tools": [],
    }

    status, response = once(json.dumps(asked).encode())

    assert status == 2
    assert response["failure"] == {
        "kind": "host",
        "message": "unreadable_session: no session of this host",
    }


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"\xff\xfe",
        b"[" * 100_000,
        b"{}",
        b'{"kind": "other"}',
        b'{"kind": "call"}',
        b'{"kind": "call", "operation": "notes_list", "arguments": [], "call": {"cwd": "/"}}',
        b'{"kind": "call", "operation": "notes_list", "arguments": {}, "call": {}}',
        b'{"kind": "call", "operation": "notes_list", "arguments": {}, "call": {"cwd": "/"}, "x": 1}',
        b'{"kind": "call", "operation": "notes_list", "arguments": {}, "call": {"cwd": "/", "y": 1}}',
        b'{"kind": "boot", "call": 3, "tools": []}',
        b'{"kind": "boot", "call": {"cwd": "/"}, "tools": [3]}',
    ],
)
def test_a_malformed_request_is_refused_with_the_reason(body: bytes, recorder: Recorder) -> None:
    status, response = once(body)

    assert status == 2
    assert response["failure"]["kind"] == "request"
    assert recorder.calls == []


@pytest.mark.parametrize(
    "arguments",
    [["serve"], ["other"], ["serve", "--socket"], ["serve", "--socket", "/x", "--parent", "x"]],
)
def test_wrong_usage_says_what_is_right(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    assert "usage: python -m hindnote.hosts.claude" in capsys.readouterr().err


def test_the_helper_loads_no_command_line_library() -> None:
    code = (
        "import sys, hindnote.hosts.claude.__main__, hindnote.hosts.claude.helper as h\n"
        "import hindnote.hosts.claude.server, hindnote.core.call, hindnote.core.plugins\n"
        "print(sorted({'click', 'rich', 'asyncio', 'http.server', 'sqlite3'} & set(sys.modules)))"
    )

    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )

    assert done.stdout.strip() == "[]"


def test_a_request_over_the_limit_is_refused_by_the_one_shot(recorder: Recorder) -> None:
    status, response = once(b" " * (BODY_LIMIT + 1))

    assert status == 2
    assert "at most 4194304" in response["failure"]["message"]
