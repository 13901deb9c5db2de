from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from hindnote.core.cli.app import make_app

Install = Callable[..., None]

MOVING = """
from pathlib import Path
from hindnote import HostIdentity, hookimpl

asked = []

@hookimpl
def host_base_cwd(call):
    asked.append(call)
    return Path("/") if len(asked) % 2 else Path("/tmp")

@hookimpl
def host_identity(call):
    return HostIdentity(host="moving", session_id=None, agent="a", model="m")

@hookimpl
def host_projection(call, session):
    return None
"""

CRASHING = """
from hindnote import hookimpl

@hookimpl
def host_base_cwd(call):
    raise KeyError("secret")

@hookimpl
def host_identity(call):
    return None

@hookimpl
def host_projection(call, session):
    return None
"""

IMPORTS = "from hindnote import Decoration, HostIdentity, SessionEntry, hookimpl\n"

ANSWERS = {
    "host_base_cwd": ("host_base_cwd(call)", "call.cwd"),
    "host_identity": (
        "host_identity(call)",
        'HostIdentity(host="wrong", session_id=None, agent="a", model="m")',
    ),
    "host_projection": ("host_projection(call, session)", "None"),
    "host_sessions": ("host_sessions(call)", '[SessionEntry(host="wrong", id="s1", file="/s1")]'),
}


def answering(answers: dict[str, tuple[str, str]]) -> str:
    """Return the source of a host plugin, with other answers to some of the questions."""
    return IMPORTS + "".join(
        f"\n@hookimpl\ndef {question}:\n    return {answer}\n"
        for question, answer in (ANSWERS | answers).values()
    )


def hosts(*arguments: str) -> Result:
    return CliRunner().invoke(make_app(), ["hosts", *arguments])


def test_the_built_in_hosts_are_listed_with_where_they_come_from() -> None:
    shown = hosts().output

    assert "claude: loaded" in shown
    assert "pi: loaded" in shown
    assert "hindnote.hosts.pi.plugin" in shown


def test_the_built_in_hosts_pass_the_check() -> None:
    result = hosts("--check")

    assert result.exit_code == 0
    assert "claude: ok" in result.output
    assert "pi: ok" in result.output


def test_a_refused_host_is_listed_with_the_reason(install: Install) -> None:
    install("acme-host", "acme", "hindnote_test_acme", "def resolve_cwd(): ...")

    result = hosts()

    assert result.exit_code == 0
    assert "acme: refused" in result.output
    assert "acme-host 1.0" in result.output
    assert "the core alone resolves" in result.output
    assert hosts("--check").exit_code == 1


def test_a_base_cwd_that_changes_fails_the_check(install: Install) -> None:
    install("moving-host", "moving", "hindnote_test_moving", MOVING)

    result = hosts("--check")

    assert result.exit_code == 1
    assert "moving: failed" in result.output
    assert "for one call" in result.output


def test_a_host_that_crashes_fails_the_check_and_the_others_are_checked(install: Install) -> None:
    install("crashing-host", "crashing", "hindnote_test_crashing", CRASHING)

    result = hosts("--check")

    assert result.exit_code == 1
    assert "crashing: failed" in result.output
    assert "claude: ok" in result.output
    assert "secret" not in result.stdout
    assert "KeyError: 'secret'" in result.stderr


@pytest.mark.parametrize(
    ("hook", "answer"),
    [
        ("host_decoration(operation)", '"<history>"'),
        ("host_decoration(operation)", 'Decoration(prefix="x" * 9_000)'),
        ("host_sessions(call)", '["s1"]'),
        ("host_projection(call, session)", "1 / 0"),
    ],
)
def test_a_question_that_only_history_asks_fails_the_check(
    install: Install, hook: str, answer: str
) -> None:
    name = hook.partition("(")[0]
    install("wrong-host", "wrong", "hindnote_test_wrong", answering({name: (hook, answer)}))

    result = hosts("--check")

    assert result.exit_code == 1
    assert "wrong: failed" in result.stdout
    assert name in result.stdout
    assert "pi: ok" in result.stdout


def test_of_several_sessions_the_one_that_changed_last_is_opened(install: Install) -> None:
    listed = ", ".join(
        f'SessionEntry(host="wrong", id="{name}", file="/{name}", modified={modified})'
        for name, modified in (("old", 1), ("newest", 3), ("new", 2))
    )
    answers = {
        "host_sessions": ("host_sessions(call)", f"[{listed}]"),
        "host_projection": ("host_projection(call, session)", "{}[session.id]"),
    }
    install("wrong-host", "wrong", "hindnote_test_wrong", answering(answers))

    result = hosts("--check")

    assert "KeyError: 'newest'" in result.stderr


def test_a_directory_that_is_gone_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()

    result = hosts("--check")

    assert result.exit_code == 2
    assert "current directory" in result.output
