"""``hindnote call``: the tools' very answers, and a way out of every wrong input."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from hindnote import HostCall
from hindnote.core.call import Dispatcher
from hindnote.core.cli.app import make_app
from hindnote.core.plugins.hosts import Hosts

SESSIONS = Path(__file__).parents[2] / "data" / "pi"
BASIC = SESSIONS / "basic.jsonl"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HINDNOTE_HOME", str(tmp_path / "notes"))
    return tmp_path / "notes"


def call(*arguments: str, stdin: bytes | None = None) -> Result:
    return CliRunner().invoke(make_app(), ["call", *arguments], input=stdin)


def given(**arguments: Any) -> str:
    return json.dumps(arguments)


WRITE = given(address="@human/plan", content="Ship it.\n\x1b[31mred\x1b[0m é😀\r\n")


def test_the_text_is_byte_for_byte_what_a_model_receives(home: Path) -> None:
    call("notes_write", WRITE)
    dispatcher = Dispatcher(Hosts.load(), home)
    asked = HostCall(host="pi", cwd=Path.cwd())

    shown = call("notes_read", given(address="@human/plan")).stdout_bytes

    answer = dispatcher.call(asked, "notes_read", {"address": "@human/plan"})
    assert "\x1b[31m" in answer.text
    assert shown == answer.text.encode() + b"\n"


def test_the_structured_form_is_compact_json(home: Path) -> None:
    call("notes_write", WRITE)

    shown = call("notes_read", given(address="@human/plan"), "--structured").stdout_bytes

    read = json.loads(shown)
    assert read["text"] == "Ship it.\n\x1b[31mred\x1b[0m é😀\r\n"
    assert shown == json.dumps(read, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def test_without_arguments_the_defaults_hold() -> None:
    assert call("notes_list").exit_code == 0


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_arguments_are_read_from_standard_input(home: Path, mark: bytes) -> None:
    result = call("notes_write", "-", stdin=mark + WRITE.encode())

    assert result.exit_code == 0
    assert (home / "human" / "plan.md").exists()


def test_a_refusal_is_exit_code_1_on_standard_output() -> None:
    result = call("notes_read", given(address="@human/absent"))

    assert result.exit_code == 1
    assert result.stdout.startswith("error: not_found: ")
    assert result.stderr == ""


def test_a_structured_refusal_is_flat() -> None:
    result = call("notes_read", given(address="@human/absent"), "--structured")

    assert result.exit_code == 1
    assert set(json.loads(result.stdout)) == {"error", "code"}


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["notes_list", "{"], "JSON"),
        (["notes_list", "plan"], "single quotes"),
        (["notes_list", "[]"], "object"),
        (["notes_list", '{"limit": NaN}'], "NaN"),
        (["notes_list", "[" * 100_000], "JSON"),
        (["notes_list", '{"glob": ' + "[" * 3_000 + "]" * 3_000 + "}"], "nested"),
        (["notes_list", '{"limit": ' + "9" * 5_000 + "}"], "JSON"),
        (["notes_list", '{"limt": 5}'], "limt: unknown field"),
        (["notes_list", '{"limit": "5"}'], "limit: "),
        (["notes_list", '{"limit": 0}'], "limit: "),
        (["notes_read"], "address"),
        (["notes_delete"], "notes_list"),
        (["notes_list", "--host", "vim"], "claude"),
        (["notes_list", "--cwd", "/no/such/directory"], "does not exist"),
        (["notes_list", "--home", __file__], "is a file"),
        (["history_list", "--session-file", "/no/such/session.jsonl"], "does not exist"),
        (["history_list", "--session-file", "/"], "is a directory"),
        (["notes_list", "--session-id", ""], "not empty"),
        (["notes_list", "--leaf", "x"], "--leaf chooses a branch of history, and notes_list"),
        (["notes_write", WRITE, "--session-file", str(BASIC), "--leaf", "x"], "leave it out"),
        ([], "OPERATION"),
    ],
)
def test_wrong_input_is_exit_code_2_with_what_to_do_and_no_traceback(
    arguments: list[str], told: str
) -> None:
    result = call(*arguments)

    assert result.exit_code == 2
    assert told in result.stderr
    assert "Traceback" not in result.stderr
    assert result.stdout == ""


def test_standard_input_that_is_not_utf_8_is_told() -> None:
    result = call("notes_list", "-", stdin=b'{"glob": "\xff"}')

    assert result.exit_code == 2
    assert "utf-8" in result.stderr


def test_a_home_that_cannot_be_made_is_a_refusal_that_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    result = call("notes_write", WRITE, "--home", str(tmp_path / "file" / "notes"))

    assert result.exit_code == 1
    assert result.stdout.startswith("error: io_error: the notes home ")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.usefixtures("measured")
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("command", [["call", "notes_list"], ["schemas"], ["--help"]])
def test_an_output_that_cannot_be_written_is_told_without_a_traceback(
    command: list[str], unbuffered: str
) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-c", "from hindnote.core.cli import main; main()", *command],
            stdout=full,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
            text=True,
            timeout=60,
            check=False,
        )

    assert done.returncode == 2
    assert "No space left" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_lone_surrogate_becomes_a_replacement_character(home: Path) -> None:
    call("notes_write", r'{"address": "@human/odd", "content": "x\udc88y"}')

    assert "x\ufffdy" in call("notes_read", given(address="@human/odd")).output


def test_options_say_who_asks_and_where(home: Path, tmp_path: Path) -> None:
    workspace = tmp_path / "work space"
    workspace.mkdir()
    options = ("--cwd", str(workspace), "--agent", "Reviewer", "--model", "Lab/M 1")

    for address in ("@project/a", "@self/b", "@model/c", "d"):
        done = call(
            "notes_write", given(address=address, content="x"), *options, "--session-id", "s 1"
        )
        assert done.exit_code == 0

    notes = {str(path.relative_to(home)) for path in home.rglob("*.md")}
    assert {"agents/reviewer/b.md", "models/lab-m-1/c.md", "pi/session/s%201/d.md"} <= notes
    assert any(name.startswith("project/work-space-") for name in notes)


def test_a_session_file_gives_the_session_s_id_from_its_own_rows(
    home: Path, tmp_path: Path
) -> None:
    renamed = tmp_path / "renamed.jsonl"
    renamed.write_bytes(BASIC.read_bytes())

    call("notes_write", given(address="here", content="x"), "--session-file", str(renamed))

    recorded = json.loads(BASIC.read_bytes().splitlines()[0])["id"]
    assert (home / "pi" / "session" / recorded / "here.md").exists()


def test_history_is_read_from_a_session_file() -> None:
    result = call("history_list", given(limit=2), "--session-file", str(BASIC), "--structured")

    assert result.exit_code == 0
    assert len([row for row in json.loads(result.stdout)["items"] if "seq" in row]) == 2


@pytest.mark.parametrize("content", ["", "not a session\n", '{"type":"other"}\n', "\x00\xff\n"])
def test_a_file_that_is_no_session_is_a_refusal_or_empty_and_no_traceback(
    tmp_path: Path, content: str
) -> None:
    file = tmp_path / "file.jsonl"
    file.write_text(content)

    result = call("history_list", "--session-file", str(file))

    assert result.exit_code in (0, 1)
    assert result.exception is None or isinstance(result.exception, SystemExit)
    if content:
        assert result.stdout.startswith("error: unreadable_session: ")


def test_the_leaf_chooses_the_branch() -> None:
    branched = SESSIONS / "branch-leaf-moved.jsonl"
    options = ("--session-file", str(branched), "--structured")

    inferred = call("history_list", *options).stdout
    moved = call("history_list", *options, "--leaf", "ff8e2ef9").stdout

    assert inferred != moved


def test_a_leaf_that_the_host_cannot_choose_is_not_ignored() -> None:
    file = SESSIONS.parent / "claude/branch.jsonl"

    result = call("history_list", "--host", "claude", "--session-file", str(file), "--leaf", "x")

    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("Error: no leaf can be chosen for Claude Code (--leaf)")


def test_the_streams_of_a_poor_locale_carry_the_bytes_all_the_same(home: Path) -> None:
    call("notes_write", WRITE)
    env = {**os.environ, "PYTHONIOENCODING": "ascii", "LC_ALL": "C", "PYTHONUTF8": "0"}

    done = subprocess.run(
        [
            *(sys.executable, "-c", "from hindnote.core.cli import main; main()"),
            *("call", "notes_read", given(address="@human/plan")),
        ],
        env=env,
        capture_output=True,
        timeout=60,
        check=False,
    )

    assert done.returncode == 0
    assert "é😀".encode() in done.stdout


def test_four_writers_at_once_leave_one_whole_body_and_nothing_else(home: Path) -> None:
    bodies = [f"{number}" * 50_000 for number in range(4)]
    code = "from hindnote.core.cli import main; main()"

    writers = [
        subprocess.Popen(
            [
                *(sys.executable, "-c", code, "call", "notes_write"),
                given(address="@human/one", content=body),
            ],
            stdout=subprocess.DEVNULL,
        )
        for body in bodies
    ]

    assert [writer.wait(timeout=60) for writer in writers] == [0] * 4
    written = (home / "human" / "one.md").read_text("utf-8").split("---\n", 2)[2]
    assert written in bodies
    assert [path.name for path in (home / "human").iterdir()] == ["one.md"]
