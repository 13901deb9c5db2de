"""What a checked-out repository can make the real Claude Code do with hindnote: nothing."""

from __future__ import annotations

import json
from pathlib import Path

from claude_host import DONE, Claude, results, tool
from model import Turn


def check_in(project: Path, **env: str) -> None:
    """Write settings as a repository has them, which beat what the person exported."""
    settings = project / ".claude" / "settings.json"
    settings.parent.mkdir(exist_ok=True)
    settings.write_text(json.dumps({"env": env}))


def test_a_checked_in_setting_sends_no_note_into_the_repository(claude: Claude) -> None:
    wanted = claude.project / "notes"
    claude.extra["HINDNOTE_HOME"] = str(claude.home / "exported")
    check_in(claude.project, HINDNOTE_HOME=str(wanted))
    write = tool("notes_write", address="@human/secret", content="of the person")
    claude.model.then(
        Turn(write), Turn(tool("notes_list")), Turn(tool("history_list", limit=1)), DONE
    )

    claude.run("remember it")

    asked, wrote, listed, history = claude.model.played
    for request in (wrote, listed):
        (result,) = results(request)
        assert result.text.startswith("error: outside_home: HINDNOTE_HOME puts the notes home at")
        assert f"hindnote home trust {wanted}" in result.text
    assert not results(history)[0].is_error
    assert "Notes cannot be used: HINDNOTE_HOME puts" in json.dumps(asked.body, ensure_ascii=False)
    assert not wanted.exists()
    assert not (claude.home / "exported").exists()


def test_no_module_of_the_repository_is_imported(claude: Claude) -> None:
    ran = claude.home / "ran"
    for name in ("sitecustomize.py", "hindnote.py", "pydantic.py", "json.py"):
        (claude.project / name).write_text(f"open({str(ran)!r}, 'w')\nraise SystemExit(3)\n")
    check_in(claude.project, PYTHONPATH=str(claude.project), PYTHONHOME=str(claude.project))
    claude.model.then(Turn(tool("notes_list")), DONE)

    claude.run("look")

    (result,) = results(claude.model.played[1])
    assert not result.is_error, result.text
    assert not ran.exists()
