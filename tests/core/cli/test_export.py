from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from hindnote.core.cli.app import make_app

TOKEN = "ghp_aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789"
SECRETS = {
    "GitHub Token": f'{{"auth": "{TOKEN}"}}',
    "AWS Access Key": "aws AKIAIOSFODNN7EXAMPLE here",
    "Secret Keyword": "password = 'hunter2hunter2'",
    "Basic Auth Credentials": "https://user:s3cr3tpw@host/x",
    "JSON Web Token": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.SflKxwRJSMeKKF2QT4fwpM",
    "Key of a model provider": "sk-ant-api03-abcdefghijklmnopqrstuv",
    "Secret variable": "export STRIPE_API_KEY=abcdefgh12345678",
    "Authorization header": "Authorization: Bearer abcdefgh12345678abcdefgh",
    "Private Key": "-----BEGIN RSA PRIVATE KEY-----\nMIIEabcd\nefgh\n-----END RSA PRIVATE KEY-----",
}
PARTS = {
    "GitHub Token": [TOKEN],
    "AWS Access Key": ["AKIAIOSFODNN7EXAMPLE"],
    "Secret Keyword": ["hunter2hunter2"],
    "Basic Auth Credentials": ["s3cr3tpw"],
    "JSON Web Token": ["eyJzdWIiOiIxMjM0NTY3ODkwIn0"],
    "Key of a model provider": ["abcdefghijklmnopqrstuv"],
    "Secret variable": ["abcdefgh12345678"],
    "Authorization header": ["abcdefgh12345678abcdefgh"],
    "Private Key": ["MIIEabcd", "efgh"],
}


def run(*arguments: str) -> Result:
    return CliRunner().invoke(make_app(), ["export", *arguments])


def exported(out: Path, *arguments: str) -> str:
    result = run(*arguments, "-o", str(out))
    assert result.exit_code == 0, result.output
    return result.stdout


def add_call(file: Path, command: str, output: str) -> None:
    call = {"type": "toolCall", "id": "c", "name": "bash", "arguments": {"command": command}}
    rows: list[dict[str, Any]] = [
        {"id": "a", "parentId": "aaaaaaaa-10", "message": {"role": "assistant", "content": [call]}},
        {"id": "r", "parentId": "a", "message": {"role": "toolResult", "toolCallId": "c",
            "toolName": "bash", "content": [{"type": "text", "text": output}], "isError": False}},
    ]  # fmt: skip
    with file.open("a") as out:
        out.writelines(json.dumps({"type": "message", **row}) + "\n" for row in rows)


def test_all_of_a_session_is_one_file_that_loads_nothing(corpus: Any, tmp_path: Path) -> None:
    corpus.add_pi("aaaaaaaa-1", *(f"text {number}" for number in range(300)))

    said = exported(tmp_path / "s.html", "aaaaaaaa")

    page = (tmp_path / "s.html").read_text()
    assert said.startswith(f"wrote {tmp_path / 's.html'}: 300 events, ")
    assert all(f">text {number}<" in page for number in range(300))
    assert "<script" not in page
    assert "default-src 'none'" in page
    assert "src=" not in page


def test_a_file_that_is_there_is_replaced_only_by_force(corpus: Any, tmp_path: Path) -> None:
    corpus.add_pi("aaaaaaaa-1", "one")
    out = tmp_path / "s.html"
    out.write_text("mine")

    refused = run("aaaaaaaa", "-o", str(out))

    assert (refused.exit_code, out.read_text()) == (2, "mine")
    assert "--force" in refused.stderr
    exported(out, "aaaaaaaa", "--force")
    assert "one" in out.read_text()


def test_a_file_that_only_the_person_may_read_stays_so_when_replaced(
    corpus: Any, tmp_path: Path
) -> None:
    corpus.add_pi("aaaaaaaa-1", "one")
    out = tmp_path / "s.html"
    out.touch(mode=0o600)

    exported(out, "aaaaaaaa", "--force")

    assert out.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("kind", ["link", "link to nothing", "pipe"])
def test_what_is_no_file_is_not_replaced_even_by_force(
    corpus: Any, tmp_path: Path, kind: str
) -> None:
    corpus.add_pi("aaaaaaaa-1", "one")
    out, other = tmp_path / "s.html", tmp_path / "mine"
    if kind == "pipe":
        os.mkfifo(out)
    else:
        out.symlink_to(other)
        if kind == "link":
            other.write_text("mine")

    refused = run("aaaaaaaa", "-o", str(out), "--force")

    assert refused.exit_code == 2
    assert "not a regular file" in refused.stderr
    assert kind != "link" or other.read_text() == "mine"
    assert out.is_fifo() or out.is_symlink()


def test_a_dash_prints_the_page_and_nothing_else(corpus: Any, tmp_path: Path) -> None:
    corpus.add_pi("aaaaaaaa-1", f"one {SECRETS['Secret variable']}")

    printed = run("aaaaaaaa", "-o", "-", "--redact")

    assert printed.exit_code == 0
    assert printed.stdout.startswith("<!doctype html>")
    assert printed.stdout.rstrip().endswith("</html>")
    assert printed.stderr.startswith("replaced:\n")


@pytest.mark.parametrize("kind", SECRETS)
def test_what_looks_like_a_secret_is_replaced_and_told(
    corpus: Any, tmp_path: Path, kind: str
) -> None:
    file = corpus.add_pi("aaaaaaaa-1", f"Use this:\n{SECRETS[kind]}\nplease", title="Keys")
    add_call(file, f"echo '{SECRETS[kind]}'", SECRETS[kind])
    out = tmp_path / "s.html"

    said = exported(out, "aaaaaaaa", "--redact")

    page = out.read_text()
    assert f"  {kind}, seq 1" in said
    assert f"[redacted: {kind}]" in page
    assert all(part not in page for part in PARTS[kind])
    assert "please" in page


def test_a_secret_is_replaced_also_where_no_rule_would_find_it(corpus: Any, tmp_path: Path) -> None:
    corpus.add_pi("aaaaaaaa-1", "It is hunter2hunter2.", "password = 'hunter2hunter2'")

    exported(tmp_path / "s.html", "aaaaaaaa", "--redact")

    assert "hunter2" not in (tmp_path / "s.html").read_text()


def test_homes_are_replaced_and_told(
    corpus: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "/srv/people/anna")
    file = corpus.add_pi(
        "aaaaaaaa-1",
        "See /home/berta/x.py, C:\\Users\\Carl\\y.py and /srv/people/anna/z.py",
        cwd="/srv/people/anna/work",
        title="In /Users/dora",
    )
    add_call(file, "ls -srv-people-anna-work", "/home/berta")
    out = tmp_path / "s.html"

    said = exported(out, "aaaaaaaa", "--redact")

    page = out.read_text()
    assert not [name for name in ("berta", "Carl", "anna", "dora") if name in page]
    assert "~/x.py" in page
    assert "  /home/berta by ~" in said


def test_what_holds_no_secret_stays_as_it_is(recorded: Path, tmp_path: Path) -> None:
    plain, redacted = tmp_path / "a.html", tmp_path / "b.html"

    exported(plain, "claude:a4cc")
    said = exported(redacted, "claude:a4cc", "--redact")

    assert "nothing looked like a secret or a home path" in said
    # Without links to where files lie on this machine.
    assert len(redacted.read_text()) > len(plain.read_text()) * 0.9


def test_redaction_needs_its_extra_and_says_so(
    corpus: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus.add_pi("aaaaaaaa-1", "one")
    monkeypatch.setitem(sys.modules, "detect_secrets.core.plugins.util", None)

    result = run("aaaaaaaa", "--redact", "-o", str(tmp_path / "s.html"))

    assert result.exit_code == 2
    assert "pip install 'hindnote[redact]'" in result.stderr
    assert not (tmp_path / "s.html").exists()
