"""Hostile roots and state folders: a defined answer, and nothing outside is touched."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hindnote.core.project.tools import TOOLS

Run = Callable[..., Any]

HASH = f"sha256:{'0' * 64}"
ARGUMENTS: dict[str, dict[str, Any]] = {
    "artifact_search": {"query": "secret"},
    "artifact_describe": {},
    "todo_list": {},
    "todo_validate": {},
    "todo_inspect": {"path": "todos/001-ready-p1-x.md"},
    "todo_allocate": {},
    "todo_create": {"title": "x", "priority": "p1", "body": ""},
    "todo_transition": {
        "path": "todos/001-ready-p1-x.md",
        "to_status": "complete",
        "expected_content_hash": HASH,
    },
}
SHORT_NAMES = sorted(ARGUMENTS)


def state_of(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    """Return everything below a folder: type, time of change and content."""
    found = {}
    for path in [folder, *folder.rglob("*")]:
        status = path.lstat()
        content = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
        found[str(path)] = (status.st_mode, status.st_mtime_ns, content)
    return found


@pytest.fixture(autouse=True)
def outside_untouched(base: Path) -> Iterator[None]:
    """Check after every test that nothing beside the session's directory changed."""
    beside = base.parent / "beside"
    before = state_of(beside)
    yield
    assert state_of(beside) == before
    assert sorted(path.name for path in base.parent.iterdir()) == ["beside", "session"]


def test_the_arguments_cover_every_tool() -> None:
    assert sorted(f"project_{name}" for name in ARGUMENTS) == sorted(TOOLS)


@pytest.mark.parametrize("tool", SHORT_NAMES)
@pytest.mark.parametrize(
    ("roots", "code"),
    [
        ({"workspace_root": ".."}, "outside_workspace"),
        ({"workspace_root": "../beside"}, "outside_workspace"),
        ({"workspace_root": "/"}, "outside_workspace"),
        ({"workspace_root": "escape"}, "outside_workspace"),
        ({"workspace_root": "inner/../../beside"}, "outside_workspace"),
        ({"workspace_root": "missing"}, "root_missing"),
        ({"docs_root": ".."}, "outside_workspace"),
        ({"docs_root": "/etc"}, "outside_workspace"),
        ({"docs_root": "escape"}, "outside_workspace"),
        ({"docs_root": "inner/up/beside"}, "outside_workspace"),
        ({"todos_root": "../session/../beside"}, "outside_workspace"),
        ({"todos_root": "escape"}, "outside_workspace"),
        ({"todos_root": "dangling"}, "outside_workspace"),
        ({"todos_root": ".hindnote"}, "outside_workspace"),
        ({"docs_root": ".hindnote/x"}, "outside_workspace"),
        ({"todos_root": "p" * 4097}, "path_too_long"),
        ({"docs_root": "😀" * 2049}, "path_too_long"),
        ({"workspace_root": "p/" * 2049}, "path_too_long"),
        ({"todos_root": ""}, "invalid_path"),
        ({"todos_root": "a\x00b"}, "invalid_path"),
    ],
)
def test_a_root_that_leads_out_fails_before_anything_is_touched(
    base: Path, run: Run, tool: str, roots: dict[str, str], code: str
) -> None:
    (base / "escape").symlink_to(base.parent / "beside")
    (base / "dangling").symlink_to(base.parent / "nowhere")
    (base / "inner").mkdir()
    (base / "inner" / "up").symlink_to("../..")
    before = state_of(base)

    answer = run(tool, **{**ARGUMENTS[tool], **roots})

    assert answer.is_error
    assert answer.dto["error"]["code"] == code
    effects = answer.dto["effects"]
    assert (effects["documents"], effects["cache"]) == ("none", "none")
    assert state_of(base) == before


def test_no_ceiling_of_delivery_limits_the_text_of_a_path(base: Path, run: Run) -> None:
    made = run("todo_create", **ARGUMENTS["todo_create"], todos_root="./" * 3_000 + "todos").dto

    assert made["data"]["todo"]["path"] == "todos/001-pending-p1-x.md"
    path = "todos/" + "./" * 3_000 + "001-pending-p1-x.md"
    assert run("todo_inspect", path=path).dto["data"]["state"] == "valid"


def test_a_link_that_stays_inside_may_be_a_root(base: Path, run: Run) -> None:
    (base / "real").mkdir()
    (base / "todos").symlink_to("real")

    assert run("todo_list").dto["data"]["root"]["path"] == "real"


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("../beside/secret.md", "outside_workspace"),
        ("/etc/passwd", "outside_workspace"),
        ("escape/secret.md", "outside_workspace"),
        ("todos/../../beside/secret.md", "outside_workspace"),
        ("todos/..", "invalid_path"),
        ("todos/", "invalid_path"),
        ("elsewhere.md", "invalid_path"),
        ("todos/deep/001-ready-p1-x.md", "invalid_path"),
        ("p" * 4097, "path_too_long"),
        ("todos/a\x00.md", "invalid_path"),
        ("todos/none.md", "not_found"),
    ],
)
@pytest.mark.parametrize("tool", ["todo_inspect", "todo_transition"])
def test_a_path_that_is_no_todo_is_refused(
    base: Path, run: Run, tool: str, path: str, code: str
) -> None:
    (base / "todos" / "deep").mkdir(parents=True)
    (base / "escape").symlink_to(base.parent / "beside")

    answer = run(tool, **{**ARGUMENTS[tool], "path": path})

    assert answer.dto["error"]["code"] == code


@pytest.mark.parametrize("path", ["../x", "../beside/secret.md", "/x"])
def test_a_path_that_leads_outside_is_told_whole(base: Path, run: Run, path: str) -> None:
    (base / "todos").mkdir()

    answer = run("todo_inspect", path=path)

    assert f"path “{path}” leads outside" in answer.dto["error"]["message"]


@pytest.mark.parametrize("tool", ["todo_allocate", "todo_create"])
@pytest.mark.parametrize(
    "hostile", [".hindnote", ".hindnote/todo-transitions", ".hindnote/todo-staging"]
)
@pytest.mark.parametrize("as_file", [False, True])
def test_a_state_folder_that_is_a_link_or_a_file_is_refused(
    base: Path, run: Run, tool: str, hostile: str, as_file: bool
) -> None:
    (base / "todos").mkdir()
    place = base / hostile
    place.parent.mkdir(exist_ok=True)
    if as_file:
        place.write_text("x")
    else:
        place.symlink_to(base.parent / "beside")

    answer = run(tool, **ARGUMENTS[tool])

    assert answer.dto["error"]["code"] == "unsafe_state"
    assert answer.dto["error"]["path"] == hostile
    assert list((base / "todos").iterdir()) == []


def test_a_lock_that_is_a_link_is_refused(base: Path, run: Run) -> None:
    (base / "todos").mkdir()
    (base / ".hindnote").mkdir()
    (base / ".hindnote" / "todo.lock").symlink_to(base.parent / "beside" / "made.lock")

    assert run("todo_allocate").dto["error"]["code"] == "unsafe_state"


def test_a_search_over_a_hostile_state_folder_works_in_memory(base: Path, run: Run) -> None:
    (base / "docs").mkdir()
    (base / "docs" / "a.md").write_text("hello")
    (base / ".hindnote").symlink_to(base.parent / "beside")

    dto = run("artifact_search", query="hello").dto

    assert dto["data"]["cache_state"]["state"] == "memory"
    assert "link" in dto["data"]["cache_state"]["reason"]
    assert len(dto["data"]["results"]) == 1


def test_an_index_file_that_is_a_link_is_replaced_and_not_followed(base: Path, run: Run) -> None:
    (base / "docs").mkdir()
    (base / "docs" / "a.md").write_text("hello")
    run("artifact_search", query="hello")
    link = base / ".hindnote" / "artifacts.sqlite3"
    link.unlink()
    link.symlink_to(base.parent / "beside" / "secret.md")

    dto = run("artifact_search", query="hello").dto

    assert dto["data"]["cache_state"]["state"] == "rebuilt"
    assert len(dto["data"]["results"]) == 1
    assert not link.is_symlink()


def test_links_below_a_root_are_neither_read_nor_followed(base: Path, run: Run) -> None:
    (base / "docs").mkdir()
    (base / "docs" / "own.md").write_text("hello")
    (base / "docs" / "file.md").symlink_to(base.parent / "beside" / "secret.md")
    (base / "docs" / "folder").symlink_to(base.parent / "beside")
    (base / "docs" / "loop").symlink_to(".")

    dto = run("artifact_search").dto

    assert [row["path"] for row in dto["data"]["results"]] == ["docs/own.md"]


def test_a_pipe_among_documents_does_not_block(base: Path, run: Run) -> None:
    for root in ("docs", "todos"):
        (base / root).mkdir()
        os.mkfifo(base / root / "001-ready-p1-x.md")

    assert run("artifact_search").dto["data"]["results"] == []
    issues = run("todo_list").dto["data"]["issues"]
    assert [issue["code"] for issue in issues] == ["not_a_file"]


def test_a_state_folder_ignores_itself_in_git(base: Path, run: Run) -> None:
    run("todo_create", **ARGUMENTS["todo_create"])

    assert (base / ".hindnote" / ".gitignore").read_text() == "*\n"


def test_an_empty_gitignore_of_a_full_disk_is_written_again(base: Path, run: Run) -> None:
    (base / ".hindnote").mkdir()
    (base / ".hindnote" / ".gitignore").write_text("")
    old = base / ".hindnote" / f".{'a' * 16}.hindnote-tmp"
    old.write_text("*")
    os.utime(old, (1, 1))

    run("todo_create", **ARGUMENTS["todo_create"])

    assert (base / ".hindnote" / ".gitignore").read_text() == "*\n"
    assert not old.exists()


def test_reading_tools_leave_no_trace(base: Path, run: Run) -> None:
    (base / "todos").mkdir()
    (base / "todos" / "001-ready-p1-x.md").write_text("x")
    before = state_of(base)

    for tool in ("todo_list", "todo_validate", "todo_inspect"):
        run(tool, **ARGUMENTS[tool])
    run("artifact_search", freshness="memory")

    assert state_of(base) == before


def test_a_root_that_cannot_be_read_is_a_failure_and_no_empty_scan(
    base: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    (base / "todos").mkdir()
    real = os.scandir

    def scandir(path: Any) -> Any:
        if isinstance(path, int):
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    for tool in ("todo_list", "todo_validate", "artifact_search"):
        error = run(tool, **ARGUMENTS[tool]).dto["error"]
        assert error["code"] == "root_unreadable"
        assert error["root"] == {"path": "todos", "availability": "unknown"}


def test_a_missing_todos_root_is_observed_missing(base: Path, run: Run) -> None:
    for tool in ("todo_list", "todo_validate", "todo_inspect", "todo_allocate", "todo_transition"):
        error = run(tool, **ARGUMENTS[tool]).dto["error"]
        assert error["code"] == "root_missing"
        assert error["root"] == {"path": "todos", "availability": "missing"}
    assert list(base.iterdir()) == []


def test_a_workspace_below_the_session_keeps_its_own_state(base: Path, run: Run) -> None:
    (base / "part").mkdir()

    made = run("todo_create", workspace_root="part", title="x", priority="p1", body="").dto

    assert made["data"]["todo"]["path"] == "todos/001-pending-p1-x.md"
    assert (base / "part" / "todos" / "001-pending-p1-x.md").exists()
    assert sorted(path.name for path in base.iterdir()) == ["part"]
