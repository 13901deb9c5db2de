"""One database of notes, used by the real Pi on one machine and Claude Code on another."""

from __future__ import annotations

import json
from pathlib import Path

from claude_host import DONE, Claude, results, tool
from model import ScriptedModel, ToolCall, Turn
from pi_host import Pi
from postgres import PASSWORD


def sent(model: ScriptedModel) -> str:
    """Return all that the hosts sent to the model."""
    return json.dumps([request.body for request in model.requests], ensure_ascii=False)


def clone(folder: Path, url: str) -> None:
    """Make a folder a clone of a repository, as far as its configuration tells."""
    (folder / ".git").mkdir(exist_ok=True)
    (folder / ".git" / "config").write_text(f'[remote "origin"]\n\turl = {url}\n')


def test_a_note_written_on_one_machine_is_read_on_the_other_in_the_next_call(
    pi: Pi, claude: Claude, model: ScriptedModel, confirmed: str
) -> None:
    pi.extra_env["HINDNOTE_HOME"] = claude.extra["HINDNOTE_HOME"] = confirmed
    clone(pi.project, "git@h.example:team/ferry.git")
    clone(claude.project, "https://h.example/team/ferry")
    write = {"address": "@project/plan", "content": "Ship the ferry.\n"}
    model.then(Turn(ToolCall("notes_write", write)), DONE)
    pi.say("remember it")
    assert not model.played[-1].results[0].is_error, model.played[-1].results

    edit = {"old_text": "ferry", "new_text": "barge"}
    model.then(
        Turn(tool("notes_read", address="@project/plan")),
        Turn(tool("notes_update", address="@project/plan", edits=[edit])),
        DONE,
    )
    claude.run("read it")
    read, updated = (results(request)[0] for request in model.played[-2:])
    assert "Ship the ferry." in read.text
    assert not updated.is_error, updated.text

    model.then(Turn(ToolCall("notes_read", {"address": "@project/plan"})), DONE)
    pi.say("read it again")
    assert "Ship the barge." in model.played[-1].results[0].text
    assert PASSWORD not in sent(model)
    assert not pi.notes.exists()
    assert not claude.notes.exists()


def test_a_database_that_a_repository_names_is_refused_in_both_hosts(
    pi: Pi, claude: Claude, model: ScriptedModel, url: str
) -> None:
    pi.extra_env["HINDNOTE_HOME"] = url
    settings = claude.project / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text(json.dumps({"env": {"HINDNOTE_HOME": url}}))
    write = {"address": "@human/secret", "content": "of the person"}

    model.then(Turn(ToolCall("notes_write", write)), DONE)
    done = pi.say("remember it")
    model.then(Turn(tool("notes_write", **write)), DONE)
    claude.run("remember it")

    for request in (model.played[1], model.played[3]):
        [result] = request.results
        assert result.text.startswith(
            "error: outside_home: HINDNOTE_HOME puts the notes home into the PostgreSQL database"
        )
        assert "nobody has confirmed it" in result.text
    assert "Notes cannot be used: HINDNOTE_HOME puts" in sent(model)
    assert PASSWORD not in sent(model) + done.stdout + done.stderr


def test_when_the_database_is_away_history_goes_on_and_the_block_says_so(
    pi: Pi, model: ScriptedModel, confirmed: str, team: object
) -> None:
    from hindnote.core.database.settings import settings_of
    from hindnote.core.places.trust import set_trusted, trusted

    gone = confirmed.rpartition(":")[0] + ":1/team"
    homes, databases = trusted()
    set_trusted(homes, (*databases, settings_of(gone)))
    try:
        pi.extra_env["HINDNOTE_HOME"] = gone
        model.then(Turn(ToolCall("notes_list", {}), ToolCall("history_list", {})), DONE)
        pi.say("hello there")
    finally:
        homes, databases = trusted()
        set_trusted(homes, tuple(one for one in databases if one != settings_of(gone)))

    listed, history = model.played[-1].results
    assert "error: io_error: the database" in listed.text
    assert "hello there" in history.text
    assert "Notes cannot be used: the database" in sent(model)
    assert PASSWORD not in sent(model)
