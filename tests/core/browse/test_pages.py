from __future__ import annotations

import json
import os
import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest

EVIL = "</pre></title><script>alert(1)</script><img src=x onerror=alert(2)>'\"\u202e"


def seqs(page: str) -> list[int]:
    return [int(seq) for seq in re.findall(r' data-seq="(\d+)"', page)]


def add_session(folder: Path, name: str, *messages: dict[str, Any], title: str = "") -> Path:
    rows: list[dict[str, Any]] = [{"type": "session", "version": 3, "id": name, "cwd": "/w"}]
    parent = None
    for number, message in enumerate(messages):
        id_ = f"{name}{number}"
        rows.append({"type": "message", "id": id_, "parentId": parent, "message": message})
        parent = id_
    if title:
        rows.append({"type": "session_info", "id": f"{name}-t", "parentId": parent, "name": title})
    file = folder / f"2026-11-30T09-00-00-000Z_{name}.jsonl"
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return file


@pytest.fixture
def pi(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A further folder in which Pi keeps sessions."""
    folder = tmp_path / "more"
    folder.mkdir()
    monkeypatch.setenv("PI_CODING_AGENT_SESSION_DIR", str(folder))
    return folder


def test_the_first_page_lists_sessions_by_what_they_were_about(site: Any) -> None:
    page = site.text()

    assert "Look at the project, add a greeting helper, and tell me what you did." in page
    assert "Renamed session" in page
    assert len(re.findall("data-item", page)) == min(60, page.count("row-link"))


def test_a_list_is_paged_and_filtered(site: Any, pi: Path) -> None:
    for number in range(70):
        add_session(pi, f"many{number:04}", {"role": "user", "content": f"Question {number:02}"})

    first, second = site.text("?q=question"), site.text("?q=question&page=2")

    assert "1 to 60 of 70" in first
    assert "61 to 70 of 70" in second
    assert len(set(re.findall(r"Question \d\d", first + second))) == 70
    assert site.text("?q=question&host=claude").count("row-link") == 0
    assert "1 to 60 of 70" in site.text("?project=w")


@pytest.mark.parametrize("session", ["claude:a4cc", "pi:01a22be3-cf", "pi:01a22bdd-2b"])
def test_a_session_s_pages_show_each_event_once(site: Any, session: str) -> None:
    whole = seqs(site.text(f"s/{session}"))
    asked = site.world.open(session)[0]

    assert whole == sorted(set(whole))
    middle = whole[len(whole) // 2]
    before, after = (seqs(site.text(f"s/{session}?{way}={middle}")) for way in ("before", "after"))
    assert [*before, middle, *after] == whole
    assert seqs(site.text(f"s/{session}?seq={middle}")) == [middle]
    assert middle in seqs(site.text(f"s/{session}?around={middle}"))
    assert asked.last_seq >= whole[-1]


def test_every_link_to_an_event_leads_to_it(site: Any) -> None:
    page = site.text("s/claude:a4cc")

    for link in re.findall(r'class="seq" href="([^"]+)"', page):
        path, _, place = unescape(link).partition("#")
        assert f'id="{place}"' in site.client.get(path).text


def test_windows_are_an_outline_with_links(site: Any) -> None:
    page = site.text("s/pi:01a22be3-cf")

    links = re.findall(r'<a href="(\?after=\d+)">window (\d)</a>', page)
    assert [number for _, number in links] == ["1", "2", "3"]
    assert seqs(site.text(f"s/pi:01a22be3-cf{links[1][0]}"))[0] >= 18


def test_a_family_is_an_outline_with_links(site: Any) -> None:
    page = site.text("s/claude:143c")

    assert "Count functions" in page
    [link] = re.findall(r'<a href="([^"]+)">Count functions</a>', page)
    assert "SUBTASK-ALPHA" in site.client.get(link).text


def test_a_script_in_a_session_stays_text_on_every_page(site: Any, pi: Path) -> None:
    call = {"type": "toolCall", "id": "c", "name": EVIL, "arguments": {"command": EVIL, EVIL: 1}}
    result = {"role": "toolResult", "toolCallId": "c", "toolName": EVIL}
    result |= {"content": [{"type": "text", "text": EVIL}], "isError": True}
    markdown = f"# {EVIL}\n\n[x](javascript:alert(3)) ![y](http://evil/z)\n\n```{EVIL}\n{EVIL}\n```"
    add_session(
        pi,
        "evilevil",
        {"role": "user", "content": EVIL},
        {"role": "assistant", "content": [{"type": "text", "text": markdown}, call]},
        result,
        title=EVIL,
    )

    for path in ("", "s/pi:evilevil", "search?q=alert", "search?q=script&mode=exact", "?q=script"):
        page = site.text(path)
        assert "alert(1)" in page
        assert page.count("<script") == 2
        assert "<img" not in page
        assert "\u202e" not in page
        assert 'href="javascript' not in page


def test_a_long_output_is_left_to_a_page_of_its_own_and_pages_stay_small(
    site: Any, pi: Path
) -> None:
    messages: list[dict[str, Any]] = []
    for number in range(60):
        call = {"type": "toolCall", "id": f"c{number}", "name": "bash", "arguments": {}}
        messages.append({"role": "assistant", "content": [call]})
        result = {"role": "toolResult", "toolCallId": f"c{number}", "toolName": "bash"}
        content = [{"type": "text", "text": f"<&'\"{'x' * 1900}\n" * 190}]
        messages.append({**result, "content": content, "isError": False})
    messages += [{"role": "user", "content": "<&>" * 40_000} for _ in range(60)]
    add_session(pi, "longlong", *messages)

    for path in ("s/pi:longlong", "s/pi:longlong?after=0", "s/pi:longlong?around=59"):
        page = site.text(path)
        assert len(page.encode()) < 2_000_000
        assert seqs(page)
    [link, *_] = re.findall(r'<a href="([^"]+)">all of it</a>', site.text("s/pi:longlong?after=0"))
    assert site.client.get(unescape(link)).text.count("x" * 1900) > 150


def test_a_running_session_tells_what_it_gained(site: Any, pi: Path) -> None:
    call = {"type": "toolCall", "id": "c", "name": "bash", "arguments": {"command": "sleep"}}
    file = add_session(
        pi,
        "livelive",
        {"role": "user", "content": "First"},
        {"role": "assistant", "content": [call]},
    )
    page = site.text("s/pi:livelive")
    [last] = re.findall(r'data-last="(\d+)"', page)
    assert 'data-status="pending"' in page

    result = {"role": "toolResult", "toolCallId": "c", "toolName": "bash", "isError": False}
    rows = [
        {"id": "r", "parentId": "livelive1", "message": {**result, "content": []}},
        {"id": "u", "parentId": "r", "message": {"role": "user", "content": "Second"}},
    ]
    with file.open("a") as out:
        out.writelines(json.dumps({"type": "message", **row}) + "\n" for row in rows)
    # The call was still running, so the page asks for it again.
    answer = site.client.get(f"{site.world.base}live/pi:livelive?after={int(last) - 1}")

    assert answer.status_code == 200
    assert "Second" in answer.text
    assert 'data-status="ok"' in answer.text
    after = answer.headers["x-last-seq"]
    assert site.client.get(f"{site.world.base}live/pi:livelive?after={after}").status_code == 204


@pytest.mark.parametrize("mode", ["ranked", "exact"])
def test_a_search_finds_events_with_links_to_them(site: Any, mode: str) -> None:
    page = site.text(f"search?q=greeting&mode={mode}")

    hits = re.findall(r'<a href="([^"]+)">seq \d+</a>', page)
    assert hits
    assert re.search("<mark>greeting</mark>", page, re.IGNORECASE)
    path, _, place = unescape(hits[0]).partition("#")
    assert f'id="{place}"' in site.client.get(path).text


def test_a_search_is_narrowed_by_host_and_project(site: Any, pi: Path) -> None:
    assert "/s/pi:" not in site.text("search?q=greeting&host=claude")
    assert "has no directory that is there now" in site.text("search?q=a&project=demo", status=422)


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("nowhere", 404),
        ("s/zzzzzzzz", 404),
        ("s/claude:a4cc?seq=99999", 404),
        ("s/claude:a4cc?around=2", 404),
        ("s/*", 422),
        ("?since=soon", 422),
        ("search?q=a&since=soon", 422),
        ("notes/human/none.md", 404),
        ("document/docs/none.md?project=none", 422),
        ("static/none.js", 404),
    ],
)
def test_what_is_not_there_is_said_and_no_crash(site: Any, path: str, status: int) -> None:
    page = site.text(path, status)

    assert "Traceback" not in page


@pytest.mark.parametrize("number", ["x", "-1", "9" * 30, "٣"])
def test_an_odd_number_in_an_address_is_taken_as_none(site: Any, number: str) -> None:
    for name in ("before", "after", "around", "seq"):
        assert site.client.get(f"{site.world.base}s/claude:a4cc?{name}={number}").status_code in (
            200,
            404,
        )
    assert site.text(f"?page={number}")


# -- notes ---------------------------------------------------------------------


def write(site: Any, name: str, **arguments: Any) -> None:
    answer = site.world.dispatcher.call(site.world.call, name, arguments)
    assert not answer.is_error, answer.text


def test_notes_are_listed_by_home_and_rendered(site: Any) -> None:
    write(site, "notes_write", address="@human/plan", content="# Plan\n\n**Ship** <b>it</b>.\n")
    write(site, "notes_write", address="@project/a/b", content="Inner.")
    write(site, "notes_write", address="@self/me", content="Mine.")

    page = site.text("notes")
    note = site.text("notes/human/plan.md")

    assert ("@human" in page, "plan.md" in page, "a/b.md" in page) == (True, True, True)
    assert "<h3>Plan</h3>" in note
    assert "<strong>Ship</strong> &lt;b&gt;it&lt;/b&gt;" in note
    assert "<dt>origin</dt><dd>self</dd>" in note


def test_looking_at_notes_changes_nothing(site: Any) -> None:
    write(site, "notes_write", address="@human/plan", content="Ship it.")
    home: Path = site.world.home.folder
    before = {path: path.stat().st_mtime_ns for path in home.rglob("*") if path.is_file()}

    site.text("notes")
    site.text("notes/human/plan.md")

    assert {path: path.stat().st_mtime_ns for path in home.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("path", ["../secret.md", "human/../../secret.md", "human//x.md", "x.md"])
def test_no_address_leads_out_of_the_notes(site: Any, path: str) -> None:
    home: Path = site.world.home.folder
    (home / "human").mkdir(parents=True)
    (home.parent / "secret.md").write_text("secret text")

    answer = site.client.get(f"{site.world.base}notes/{path.replace('..', '%2e%2e')}")

    assert "secret text" not in answer.text
    assert answer.status_code in (404, 422)


def test_versions_of_a_note_come_from_the_sessions_that_wrote_it(site: Any, pi: Path) -> None:
    def calling(name: str, id_: str, **given: Any) -> list[dict[str, Any]]:
        call = {"type": "toolCall", "id": id_, "name": name, "arguments": given}
        result = {"role": "toolResult", "toolCallId": id_, "toolName": name, "isError": False}
        content = [{"type": "text", "text": "done"}]
        return [{"role": "assistant", "content": [call]}, {**result, "content": content}]

    add_session(
        pi,
        "writer01",
        *calling("notes_write", "a", address="@human/plan", content="We use SQLite.\n"),
        *calling("notes_write", "b", address="@human/other", content="plan"),
        *calling(
            "notes_update",
            "c",
            address="@human/plan.md",
            edits=[{"old_text": "SQLite", "new_text": "DuckDB"}],
        ),
    )
    write(site, "notes_write", address="@human/plan", content="We use DuckDB.\n")

    note = site.text("notes/human/plan.md")

    assert re.findall(r"<summary><b>(\w+)</b>", note) == ["edited", "wrote"]
    assert '<span class="row del">- SQLite</span>' in note
    assert '<span class="row add">+ DuckDB</span>' in note
    assert note.count("pi:writer01") >= 2
    assert f"{site.world.base}s/pi:writer01?around=" in note


# -- projects ------------------------------------------------------------------


def test_documents_and_todos_of_the_project_are_listed_and_rendered(
    site: Any,
) -> None:
    here = Path.cwd()
    (here / "docs").mkdir()
    (here / "docs/brief.md").write_text("---\ntitle: The brief\n---\n# Aim\n\n<script>x</script>\n")
    (here / "todos").mkdir()
    (here / "todos/001-ready-p1-fix.md").write_text(
        "---\nissue_id: '001'\nstatus: ready\npriority: p1\ntitle: Fix it\n---\nSee the log.\n"
    )

    page = site.text("project")
    [document] = re.findall(r'<a href="([^"]+)">The brief</a>', page)
    shown = site.client.get(unescape(document)).text

    assert "Fix it" in page
    assert "<h3>Aim</h3>" in shown
    assert "&lt;script&gt;x" in shown
    assert not (here / ".hindnote").exists()


@pytest.mark.parametrize("kind", ["pipe", "folder", "huge"])
def test_what_is_no_document_is_never_waited_for(site: Any, kind: str) -> None:
    odd = Path.cwd() / "docs" / "odd.md"
    odd.parent.mkdir()
    if kind == "pipe":
        os.mkfifo(odd)
    elif kind == "folder":
        odd.mkdir()
    else:
        odd.touch()
        os.truncate(odd, 10 << 30)

    shown = site.text(f"document/docs/odd.md?project={Path.cwd().name}", 422)

    assert "docs/odd.md cannot be shown" in unescape(shown)
    assert re.search("not a regular file|more than 1,000,000", shown)
    assert "Errno" not in shown
    site.text("project")


@pytest.mark.parametrize("path", ["secret.md", "docs/../secret.md", "docs/link.md", "docs/x.txt"])
def test_nothing_but_documents_of_the_project_is_shown(site: Any, path: str) -> None:
    here = Path.cwd()
    (here / "docs").mkdir()
    for name in ("secret.md", "docs/x.txt"):
        (here / name).write_text("secret text")
    (here / "docs/link.md").symlink_to(here / "secret.md")
    project = here.name

    address = f"{site.world.base}document/{path.replace('..', '%2e%2e')}?project={project}"
    answer = site.client.get(address)

    assert answer.status_code == 422
    assert "secret text" not in answer.text
