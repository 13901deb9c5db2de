"""What a checked-out repository can make the real Pi do with hindnote: nothing."""

from __future__ import annotations

import json

from model import ScriptedModel, Text, ToolCall, Turn
from pi_host import Pi

DONE = Turn(Text("done"))


def test_a_home_in_the_repository_counts_for_no_call_and_the_model_is_told(
    pi: Pi, model: ScriptedModel
) -> None:
    wanted = pi.project / "notes"
    pi.extra_env["HINDNOTE_HOME"] = str(wanted)
    written = {"address": "@human/secret", "content": "of the person"}
    model.then(Turn(ToolCall("notes_write", written)), DONE)

    pi.say("remember it")

    asked, wrote = model.played[:2]
    [result] = wrote.results
    assert result.is_error
    assert result.text.startswith("error: outside_home: HINDNOTE_HOME puts the notes home at")
    assert "Notes cannot be used: HINDNOTE_HOME puts" in json.dumps(asked.body, ensure_ascii=False)
    assert not wanted.exists()


def test_no_module_and_no_program_of_the_repository_is_run(pi: Pi, model: ScriptedModel) -> None:
    ran = pi.home / "ran"
    for name in ("sitecustomize.py", "hindnote.py", "pydantic.py", "json.py"):
        (pi.project / name).write_text(f"open({str(ran)!r}, 'w')\nraise SystemExit(3)\n")
    (pi.project / "python3").write_text(f"#!/bin/sh\ntouch {ran}\n")
    (pi.project / "python3").chmod(0o755)
    pi.extra_env["PYTHONPATH"] = str(pi.project)
    model.then(Turn(ToolCall("notes_list", {})), DONE)

    pi.say("look")

    [result] = model.played[1].results
    assert not result.is_error, result.text
    assert not ran.exists()


def test_a_relative_interpreter_is_refused_and_not_looked_up_in_the_repository(
    pi: Pi, model: ScriptedModel
) -> None:
    ran = pi.home / "ran"
    (pi.project / "evil.sh").write_text(f"#!/bin/sh\ntouch {ran}\n")
    (pi.project / "evil.sh").chmod(0o755)
    pi.extra_env["HINDNOTE_PYTHON"] = "./evil.sh"
    model.then(Turn(ToolCall("notes_list", {})), DONE)

    pi.say("look")

    [result] = model.played[1].results
    assert result.is_error
    assert "HINDNOTE_PYTHON names the Python" in result.text
    assert not ran.exists()
