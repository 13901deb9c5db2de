"""The six todo tools, as a caller meets them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from journal_files import sealed

from hindnote.core.fs import handles, locks
from hindnote.core.project import state
from hindnote.core.project.contract.envelope import IssueCode

Run = Callable[..., Any]
NewTodo = Callable[..., dict[str, Any]]

HASH = f"sha256:{'0' * 64}"


def text(number: object = "'007'", status: str = "pending", priority: str = "p1") -> str:
    return f"---\nissue_id: {number}\nstatus: {status}\npriority: {priority}\n---\nbody\n"


def put(base: Path, name: str, content: str | bytes | None = None) -> Path:
    place = base / "todos" / name
    place.parent.mkdir(exist_ok=True)
    given = text() if content is None else content
    place.write_bytes(given.encode() if isinstance(given, str) else given)
    return place


def codes(dto: dict[str, Any]) -> list[tuple[str, str]]:
    return [
        (issue["code"], issue["path"].removeprefix("todos/")) for issue in dto["data"]["issues"]
    ]


# -- looking ----------------------------------------------------------------------


def test_a_list_holds_identities_and_hashes_of_canonical_todos(base: Path, run: Run) -> None:
    place = put(base, "007-pending-p1-x.md")
    put(base, "notes.txt", "no todo")
    put(base, ".hidden.md", "no todo")

    dto = run("todo_list").dto

    assert dto["data"]["todos"] == [
        {
            "path": "todos/007-pending-p1-x.md",
            "id": 7,
            "status": "pending",
            "priority": "p1",
            "hash": state.digest(place.read_bytes()),
        }
    ]
    assert dto["data"]["issues"] == []
    assert dto["data"]["root"] == {"path": "todos", "availability": "present"}
    assert dto["effects"]["documents"] == dto["effects"]["cache"] == "none"


def test_a_validation_is_the_same_scan(base: Path, run: Run) -> None:
    put(base, "007-pending-p1-x.md", "broken")

    assert run("todo_list").dto["data"] == run("todo_validate").dto["data"]


CASES: dict[str, Any] = {
    "invalid_frontmatter": lambda base: put(base, "007-pending-p1-x.md", "no block"),
    "name_mismatch": lambda base: put(base, "007-ready-p1-x.md"),
    "not_a_file": lambda base: (base / "todos" / "007-pending-p1-x.md").mkdir(parents=True),
    "not_canonical": lambda base: put(base, "README.md", "read me"),
    "not_text": lambda base: put(base, "007-pending-p1-x.md", b"\xff\xfe"),
    "symlink": lambda base: (
        put(base, "other.txt").with_name("007-pending-p1-x.md").symlink_to("other.txt")
    ),
    "duplicate_id": lambda base: (
        put(base, "007-pending-p1-x.md"),
        put(base, "007-pending-p1-y.md"),
    ),
    "name_collision": lambda base: (put(base, "Cafe\u0301.md"), put(base, "café.md")),
    "interrupted_transition": lambda base: (
        put(base, "008-pending-p1-x.md", text(8)),
        journal(base, "0" * 32),
    ),
}


def journal(base: Path, name: str, **more: Any) -> Path:
    """Write a journal of a transition that was prepared."""
    place = base / ".hindnote" / "todo-transitions" / f"{name}.json"
    place.parent.mkdir(parents=True, exist_ok=True)
    told = {
        "version": 1,
        "id": name,
        "root": ["todos"],
        "source": "007-pending-p1-x.md",
        "source_hash": state.digest(text().encode()),
        "target": "007-ready-p1-x.md",
        "target_hash": state.digest(text(status="ready").encode()),
        "stage": "prepared",
        **more,
    }
    place.write_bytes(sealed(told))
    return place


@pytest.mark.parametrize("code", sorted(CASES))
def test_every_issue_is_found(base: Path, run: Run, code: str) -> None:
    CASES[code](base)

    found = run("todo_list").dto["data"]["issues"]

    assert {issue["code"] for issue in found} >= {code}
    blocking = {issue["code"] for issue in found if issue["blocking"]}
    assert blocking <= {"duplicate_id", "name_mismatch", "name_collision"}


def test_every_issue_code_has_a_cause() -> None:
    assert {*CASES, "unreadable"} == set(IssueCode.__args__)


def test_a_todo_that_cannot_be_read_is_an_issue_among_the_others(
    base: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(base, "007-pending-p1-x.md")
    put(base, "008-pending-p1-y.md", text(8))
    real = os.open

    def locked(path: Any, *arguments: Any, **options: Any) -> int:
        if path == "007-pending-p1-x.md":
            raise PermissionError(13, "Permission denied")
        return real(path, *arguments, **options)

    monkeypatch.setattr(os, "open", locked)
    dto = run("todo_list").dto

    assert codes(dto) == [("unreadable", "007-pending-p1-x.md")]
    assert [todo["id"] for todo in dto["data"]["todos"]] == [8]
    assert run("todo_allocate").dto["data"]["id"] == 9


def test_a_name_that_is_not_utf8_is_an_issue_without_path(base: Path, run: Run) -> None:
    (base / "todos").mkdir()
    (base / "todos" / os.fsdecode(b"\xff.md")).write_text("x")

    (issue,) = run("todo_list").dto["data"]["issues"]

    assert issue["code"] == "not_canonical"
    assert "path" not in issue


@pytest.mark.parametrize("number", ["7", "'7'", "'007'", '"0007"', "007"])
def test_an_id_agrees_by_its_number(base: Path, run: Run, number: str) -> None:
    put(base, "007-pending-p1-x.md", text(number))

    assert run("todo_list").dto["data"]["issues"] == []


@pytest.mark.parametrize("number", ["8", "x", "[7]", "true", "'" + "9" * 5000 + "'"])
def test_an_id_that_disagrees_is_a_conflict(base: Path, run: Run, number: str) -> None:
    put(base, "007-pending-p1-x.md", text(number))

    dto = run("todo_inspect", path="todos/007-pending-p1-x.md").dto

    assert dto["data"]["state"] == "conflict"
    assert codes(dto) == [("name_mismatch", "007-pending-p1-x.md")]


@pytest.mark.parametrize(
    ("content", "expected"),
    [(text(), "valid"), ("no block", "invalid"), (text(8), "conflict")],
)
def test_an_inspection_tells_one_state(base: Path, run: Run, content: str, expected: str) -> None:
    put(base, "007-pending-p1-x.md", content)
    put(base, "009-pending-p1-z.md", "broken, but another")

    dto = run("todo_inspect", path="todos/007-pending-p1-x.md").dto

    assert dto["ok"] is True
    assert dto["data"]["state"] == expected
    assert dto["data"]["todo"]["id"] == 7


def test_a_file_without_a_todos_name_can_be_inspected(base: Path, run: Run) -> None:
    put(base, "README.md", "x")

    data = run("todo_inspect", path="todos/README.md").dto["data"]

    assert data["state"] == "invalid"
    assert "todo" not in data


def test_many_duplicates_stay_within_every_bound(base: Path, run: Run) -> None:
    for number in range(150):
        put(base, f"007-pending-p1-x{number}.md")

    dto = run("todo_list").dto

    assert dto["completeness"]["collections"]["todos"]["total"] == 150
    assert dto["completeness"]["collections"]["issues"]["total"] == 150
    assert "blocks changes" in run("todo_list").text


# -- allocating and creating --------------------------------------------------------


def test_an_allocation_reserves_nothing(base: Path, run: Run) -> None:
    put(base, "007-pending-p1-x.md")

    first, second = run("todo_allocate").dto, run("todo_allocate").dto

    assert first["data"] == second["data"]
    assert first["data"] == {
        "id": 8,
        "rendered_id": "008",
        "directory_hash": run("todo_list").dto["data"]["directory_hash"],
        "reserved": False,
    }
    assert first["effects"]["documents"] == "none"
    assert first["effects"]["cache"] == "observed"


def test_ids_that_any_file_claims_are_never_given(base: Path, run: Run) -> None:
    put(base, "012-draft.md", "no todo's name")
    put(base, "README.md", text(40))

    assert run("todo_allocate").dto["data"]["id"] == 41


def test_no_id_beyond_what_javascript_counts_is_given(base: Path, run: Run) -> None:
    put(base, "999999999999999-pending-p1-x.md", text("'999999999999999'"))

    assert run("todo_allocate").dto["error"]["code"] == "id_exhausted"
    assert run("todo_create", title="x", priority="p1", body="").dto["ok"] is False


def test_a_creation_makes_the_root_and_a_canonical_todo(
    base: Path, run: Run, new_todo: NewTodo
) -> None:
    made = new_todo("Fix the login", body="a\r\nb", frontmatter={"tags": ["x"]}, status="ready")

    place = base / made["path"]
    assert made["path"] == "todos/001-ready-p1-fix-the-login.md"
    assert place.read_bytes().endswith(b'tags: ["x"]\n---\n\na\r\nb')
    assert state.digest(place.read_bytes()) == made["hash"]
    assert run("todo_inspect", path=made["path"]).dto["data"]["state"] == "valid"
    assert new_todo()["id"] == 2


def test_a_creation_is_refused_when_the_todos_changed_since(
    base: Path, run: Run, new_todo: NewTodo
) -> None:
    new_todo()
    told = run("todo_allocate").dto["data"]["directory_hash"]
    given = {"title": "x", "priority": "p1", "body": "", "expected_directory_hash": told}
    assert run("todo_create", **given).dto["ok"] is True

    answer = run("todo_create", **given)

    assert answer.is_error
    assert answer.dto["error"]["code"] == "stale_directory"
    assert answer.dto["error"]["expected"] == told
    assert answer.dto["error"]["actual"] == run("todo_list").dto["data"]["directory_hash"]
    assert answer.dto["effects"]["documents"] == "none"


def test_a_directory_hash_sees_every_change(base: Path, run: Run) -> None:
    def told() -> str:
        value: str = run("todo_list").dto["data"]["directory_hash"]
        return value

    seen = [told() for _ in (put(base, "007-pending-p1-x.md"),)]
    put(base, "007-pending-p1-x.md", text() + "more")
    seen.append(told())
    (base / "todos" / "007-pending-p1-x.md").rename(base / "todos" / "007-pending-p2-x.md")
    seen.append(told())
    put(base, "README.md", "x")
    seen.append(told())
    assert len(set(seen)) == 4


# -- moving -----------------------------------------------------------------------


def move(run: Run, todo: dict[str, Any], to_status: str = "ready", **more: Any) -> Any:
    given = {"path": todo["path"], "to_status": to_status, "expected_content_hash": todo["hash"]}
    return run("todo_transition", **{**given, **more})


def test_a_transition_moves_name_and_frontmatter_as_one(
    base: Path, run: Run, new_todo: NewTodo
) -> None:
    todo = new_todo(body="status: pending\n")

    dto = move(run, todo).dto

    moved = dto["data"]["todo"]
    assert moved["path"] == "todos/001-ready-p1-fix-it.md"
    assert dto["data"]["previous_path"] == todo["path"]
    assert [path.name for path in (base / "todos").iterdir()] == ["001-ready-p1-fix-it.md"]
    content = (base / moved["path"]).read_bytes()
    assert moved["hash"] == state.digest(content)
    assert b"status: ready\n" in content
    assert content.endswith(b"status: pending\n")
    assert dto["effects"]["changed"]["items"] == [
        {"path": moved["path"], "hash": moved["hash"]},
        {"path": todo["path"], "hash": None},
    ]
    assert list((base / ".hindnote" / "todo-transitions").iterdir()) == []
    assert list((base / ".hindnote" / "todo-staging").iterdir()) == []


def test_a_transition_keeps_the_files_mode(base: Path, run: Run, new_todo: NewTodo) -> None:
    todo = new_todo()
    (base / todo["path"]).chmod(0o640)

    moved = move(run, todo).dto["data"]["todo"]

    assert (base / moved["path"]).stat().st_mode & 0o777 == 0o640


def test_a_todo_can_be_moved_back(run: Run, new_todo: NewTodo) -> None:
    todo = new_todo()
    for status in ("complete", "ready", "pending"):
        todo, before = move(run, todo, status).dto["data"]["todo"], todo
        assert todo["status"] == status
        assert todo["path"] != before["path"]


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ({"expected_content_hash": HASH}, "stale_content"),
        ({"to_status": "pending"}, "nothing_to_do"),
        ({"path": "todos/009-pending-p1-x.md"}, "not_found"),
        ({"path": "todos/broken.md"}, "not_transitionable"),
        ({"path": "todos/009-ready-p1-broken.md"}, "not_transitionable"),
    ],
)
def test_a_transition_that_may_not_be_is_refused_and_nothing_changes(
    base: Path, run: Run, new_todo: NewTodo, more: dict[str, str], code: str
) -> None:
    todo = new_todo()
    put(base, "broken.md", "x")
    put(base, "009-ready-p1-broken.md", "x")
    before = {path.name: path.read_bytes() for path in (base / "todos").iterdir()}

    answer = move(run, todo, **more)

    assert answer.dto["error"]["code"] == code
    assert answer.dto["effects"]["documents"] == "none"
    assert {path.name: path.read_bytes() for path in (base / "todos").iterdir()} == before


def test_a_todo_that_somebody_moved_is_named_where_it_is(run: Run, new_todo: NewTodo) -> None:
    todo = new_todo()
    move(run, todo)

    error = move(run, todo, "complete").dto["error"]

    assert error["code"] == "not_found"
    assert "001-ready-p1-fix-it.md" in error["message"]


@pytest.mark.parametrize("case", ["duplicate_id", "name_mismatch", "name_collision"])
def test_a_conflict_is_listed_and_blocks_every_mutation(
    base: Path, run: Run, new_todo: NewTodo, case: str
) -> None:
    """Two branches each added an id, and were merged; or somebody edited half of a todo."""
    todo = new_todo()
    CASES[case](base)
    before = {path.name: path.read_bytes() for path in (base / "todos").iterdir()}

    answers = [
        run("todo_allocate"),
        run("todo_create", title="x", priority="p1", body=""),
        move(run, todo),
    ]

    for answer in answers:
        error = answer.dto["error"]
        assert error["code"] == "todo_conflict"
        assert {issue["code"] for issue in error["issues"]} == {case}
    assert {path.name: path.read_bytes() for path in (base / "todos").iterdir()} == before
    assert len(run("todo_list").dto["data"]["todos"]) >= 1


# -- recovery ----------------------------------------------------------------------


@pytest.mark.parametrize("more", [{"version": 2}, {"source": "../../beside/secret.md"}])
def test_a_journal_of_another_version_blocks_and_is_kept(
    base: Path, run: Run, new_todo: NewTodo, more: dict[str, Any]
) -> None:
    todo = new_todo()
    place = journal(base, "0" * 32, **more)
    before = place.read_bytes()

    for answer in (
        run("todo_allocate"),
        run("todo_create", title="x", priority="p1", body=""),
        move(run, todo),
    ):
        error = answer.dto["error"]
        assert error["code"] == "recovery_blocked"
        assert error["path"] == f".hindnote/todo-transitions/{'0' * 32}.json"
        assert answer.dto["effects"]["documents"] == "none"
        assert answer.dto["effects"]["recovery"]["started"] == 0
    assert place.read_bytes() == before
    assert (base / todo["path"]).exists()
    assert run("todo_list").dto["ok"] is True


def test_a_damaged_journal_says_where_the_todo_is_that_it_moved(base: Path, run: Run) -> None:
    (base / "todos").mkdir()
    place = journal(base, "0" * 32)
    content = place.read_bytes()
    place.write_bytes(content.replace(b'"prepared"', b'"prepaqed"'))
    taken = base / ".hindnote/todo-staging" / f"{'0' * 32}.source"
    taken.parent.mkdir()
    taken.write_text(text())

    error = run("todo_allocate").dto["error"]

    assert error["code"] == "recovery_blocked"
    assert "is damaged" in error["message"]
    assert f".hindnote/todo-staging/{taken.name}" in error["message"]
    assert taken.read_text() == text()


@pytest.mark.parametrize(
    "name", [f"todo-transitions/{'0' * 32}.json.tmp", f"todo-staging/{'0' * 32}.target"]
)
def test_what_cannot_be_cleaned_up_is_named(base: Path, run: Run, name: str) -> None:
    (base / "todos").mkdir()
    (base / ".hindnote" / name).mkdir(parents=True)

    error = run("todo_allocate").dto["error"]

    assert (error["code"], error["path"]) == ("recovery_blocked", f".hindnote/{name}")
    assert "Remove it" in error["message"]


def test_a_journal_whose_root_is_gone_says_what_to_do(base: Path, run: Run) -> None:
    (base / "todos").mkdir()
    place = journal(base, "0" * 32, root=["gone"])

    message = run("todo_allocate").dto["error"]["message"]

    assert "gone: No such file or directory" in message
    assert f"move .hindnote/todo-transitions/{place.name} away" in message


def test_a_receipt_holds_what_the_journal_said_and_what_was_observed(base: Path, run: Run) -> None:
    put(base, "007-pending-p1-x.md")
    put(base, "007-ready-p1-x.md", text(status="ready"))
    place = journal(base, "0" * 32)
    journal_hash = state.digest(place.read_bytes())

    dto = run("todo_allocate").dto

    recovery = dto["effects"]["recovery"]
    assert (recovery["started"], recovery["completed"], recovery["total"]) == (1, 1, 1)
    assert recovery["receipts"] == [
        {
            "journal": f".hindnote/todo-transitions/{'0' * 32}.json",
            "journal_hash": journal_hash,
            "source": {
                "path": "todos/007-pending-p1-x.md",
                "hash": state.digest(text().encode()),
                "current": None,
            },
            "target": {
                "path": "todos/007-ready-p1-x.md",
                "hash": state.digest(text(status="ready").encode()),
                "current": state.digest(text(status="ready").encode()),
            },
            "action": "resume",
            "state": "completed",
        }
    ]
    assert dto["effects"]["changed"]["items"] == [
        {"path": "todos/007-pending-p1-x.md", "hash": None}
    ]
    assert not place.exists()


def test_a_published_target_is_observed_when_only_the_journal_is_cleaned(
    base: Path, run: Run
) -> None:
    put(base, "007-ready-p1-x.md", text(status="ready"))
    journal(base, "0" * 32, stage="source_removed")

    effects = run("todo_allocate").dto["effects"]

    (receipt,) = effects["recovery"]["receipts"]
    assert receipt["action"] == "cleanup"
    assert receipt["target"]["current"] == receipt["target"]["hash"]
    assert effects["documents"] == "none"


def test_recovery_is_told_even_when_the_mutation_is_refused_afterwards(
    base: Path, run: Run
) -> None:
    put(base, "007-pending-p1-x.md")
    put(base, "007-ready-p1-x.md", text(status="ready"))
    put(base, "009-pending-p1-y.md", text(8))
    journal(base, "0" * 32)

    dto = run("todo_allocate").dto

    assert dto["error"]["code"] == "todo_conflict"
    assert dto["effects"]["documents"] == "observed"
    assert dto["effects"]["recovery"]["completed"] == 1


def test_edits_on_both_sides_block_until_a_person_decides(base: Path, run: Run) -> None:
    put(base, "007-pending-p1-x.md", text() + "edited")
    target = put(base, "007-ready-p1-x.md", text(status="ready") + "edited")
    journal(base, "0" * 32, stage="target_written")

    dto = run("todo_allocate").dto

    assert dto["error"]["code"] == "recovery_blocked"
    (receipt,) = dto["effects"]["recovery"]["receipts"]
    assert (receipt["action"], receipt["state"]) == ("none", "failed")
    assert dto["effects"]["recovery"]["completed"] == 0
    target.unlink()
    assert run("todo_allocate").dto["ok"] is True


def test_more_recoveries_than_receipts_are_counted(base: Path, run: Run) -> None:
    for number in range(4):
        content = text(number + 1)
        put(base, f"00{number + 1}-pending-p1-x.md", content)
        journal(
            base,
            str(number) * 32,
            source=f"00{number + 1}-pending-p1-x.md",
            target=f"00{number + 1}-ready-p1-x.md",
            source_hash=state.digest(content.encode()),
        )

    recovery = run("todo_allocate").dto["effects"]["recovery"]

    assert (recovery["started"], recovery["completed"]) == (4, 4)
    assert (len(recovery["receipts"]), recovery["total"], recovery["omitted"]) == (2, 4, 2)


def test_a_journal_of_another_root_is_finished_there(base: Path, run: Run) -> None:
    other = base / "other"
    other.mkdir()
    (other / "007-pending-p1-x.md").write_text(text())
    (other / "007-ready-p1-x.md").write_text(text(status="ready"))
    (base / "todos").mkdir()
    journal(base, "0" * 32, root=["other"])

    (receipt,) = run("todo_allocate").dto["effects"]["recovery"]["receipts"]

    assert receipt["source"]["path"] == "other/007-pending-p1-x.md"
    assert [path.name for path in other.iterdir()] == ["007-ready-p1-x.md"]


def test_a_mutation_waits_a_bounded_time_for_the_lock(
    base: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(base, "007-pending-p1-x.md")
    run("todo_allocate")
    monkeypatch.setattr(state, "LOCK_SECONDS", 0.05)
    with (
        handles.closing(handles.open_root(base / ".hindnote")) as folder,
        locks.locked_file(folder, "todo.lock", seconds=0),
    ):
        assert run("todo_allocate").dto["error"]["code"] == "locked"
        assert run("todo_list").dto["ok"] is True
    assert run("todo_allocate").dto["ok"] is True


def test_a_todo_keeps_the_letters_of_its_title_and_its_row_carries_it(
    run: Run, new_todo: Callable[..., dict[str, Any]]
) -> None:
    made = new_todo("修复登录错误")

    assert made["path"] == "todos/001-pending-p1-修复登录错误.md"
    assert made["title"] == "修复登录错误"
    listed = run("todo_list")
    assert listed.dto["data"]["todos"] == [made]
    assert any("| 修复登录错误 |" in row for row in listed.details["rows"])
    arguments = {"path": made["path"], "to_status": "ready", "expected_content_hash": made["hash"]}
    moved = run("todo_transition", **arguments).dto["data"]["todo"]
    assert (moved["path"], moved["title"]) == ("todos/001-ready-p1-修复登录错误.md", made["title"])


def test_a_long_title_is_clipped_where_it_is_shown_alone(
    base: Path, run: Run, new_todo: Callable[..., dict[str, Any]]
) -> None:
    made = new_todo("x" * 300)

    assert made["title"] == "x" * 240
    assert "x" * 300 in (base / made["path"]).read_text()
    completeness = run("todo_list").dto["completeness"]
    assert completeness["clipped"] == [{"text": "todos.title", "count": 1}]
    assert completeness["complete"] is False


def test_a_todo_is_found_in_the_unicode_form_of_the_file_system(base: Path, run: Run) -> None:
    name = "001-pending-p1-cafe\u0301.md"
    content = b"---\nissue_id: '001'\nstatus: pending\npriority: p1\n---\n"
    put(base, name, content.decode())
    (row,) = run("todo_list").dto["data"]["todos"]
    arguments = {"path": "todos/001-pending-p1-café.md", "to_status": "ready"}

    moved = run("todo_transition", **arguments, expected_content_hash=row["hash"]).dto

    assert moved["ok"], moved
    assert moved["data"]["previous_path"] == f"todos/{name}"
    assert [path.name for path in (base / "todos").iterdir()] == ["001-ready-p1-café.md"]


@pytest.mark.parametrize("archive", ["archive", "done/2026"])
def test_the_id_of_a_todo_in_a_subfolder_is_not_given_again(
    base: Path, run: Run, new_todo: Callable[..., dict[str, Any]], archive: str
) -> None:
    new_todo("one")
    second = new_todo("two")
    (base / "todos" / archive).mkdir(parents=True)
    (base / second["path"]).rename(base / "todos" / archive / Path(second["path"]).name)

    assert run("todo_allocate").dto["data"]["id"] == 3
    assert new_todo("three")["id"] == 3
    assert [row["id"] for row in run("todo_list").dto["data"]["todos"]] == [1, 3]


def test_a_link_to_a_folder_among_todos_claims_nothing(base: Path, run: Run) -> None:
    (base / "todos").mkdir()
    (base.parent / "beside" / "007-pending-p1-x.md").write_text("x")
    (base / "todos" / "archive").symlink_to(base.parent / "beside")

    assert run("todo_allocate").dto["data"]["id"] == 1


_ON_ANOTHER_MOUNT = """
import json, os, sys
from pathlib import Path
from hindnote.core.project.run import run_tool
base = Path(sys.argv[1])
def run(name, **arguments):
    return run_tool(f"project_{name}", arguments, base_cwd=base).dto
made = run("todo_create", title="x", priority="p1", body="b")
todo = made["data"]["todo"]
moved = run("todo_transition", path=todo["path"], to_status="ready", expected_content_hash=todo["hash"])
print(json.dumps([moved["ok"], sorted(os.listdir(base / "todos")), run("todo_validate")["data"]["issues"]]))
"""


@pytest.mark.parametrize("mount", ["-t tmpfs none", "--bind elsewhere"])
def test_todos_on_a_mount_of_their_own_work(base: Path, mount: str) -> None:
    for name in ("todos", "elsewhere"):
        (base / name).mkdir()
    script = f'mount {mount} todos || exit 77; exec "$0" -c "$1" .'
    unshare = shutil.which("unshare")
    if unshare is None:
        pytest.skip("no unshare(1) here")
    done = subprocess.run(
        [unshare, "-rm", "sh", "-c", script, sys.executable, _ON_ANOTHER_MOUNT],
        cwd=base,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == 77 or done.stderr.startswith("unshare:"):
        pytest.skip(f"nothing can be mounted here: {done.stderr}")

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [True, [".hindnote", "001-ready-p1-x.md"], []]
