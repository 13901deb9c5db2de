from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from hindnote.core.project_id import project_key, project_root


def git(folder: Path, *arguments: str) -> None:
    identity = (
        "-c",
        "user.name=t",
        "-c",
        "user.email=t@localhost",
        "-c",
        "init.defaultBranch=main",
    )
    subprocess.run(
        ["git", "-C", str(folder), *identity, *arguments],
        check=True,
        capture_output=True,
        timeout=60,
    )


needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")


def test_a_project_is_the_nearest_folder_that_holds_git(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "a" / ".git").mkdir(parents=True)
    (tmp_path / "a" / "b").mkdir()

    assert project_root(tmp_path / "a" / "b") == tmp_path / "a"


def test_a_folder_outside_any_repository_is_a_project_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()

    assert project_root(tmp_path / "a") == tmp_path / "a"


def test_links_are_resolved(tmp_path: Path) -> None:
    (tmp_path / "real" / ".git").mkdir(parents=True)
    (tmp_path / "link").symlink_to("real")

    assert project_key(tmp_path / "link") == project_key(tmp_path / "real")


@pytest.mark.parametrize(
    ("one", "other"), [("a-b/c", "a/b-c"), ("项目一", "项目二"), ("A", "a"), ("x y", "x-y")]
)
def test_folders_that_look_alike_have_keys_of_their_own(
    tmp_path: Path, one: str, other: str
) -> None:
    (tmp_path / one).mkdir(parents=True)
    (tmp_path / other).mkdir(parents=True)

    assert project_key(tmp_path / one) != project_key(tmp_path / other)


def test_a_key_is_a_slug_and_eight_hex_digits(tmp_path: Path) -> None:
    folder = tmp_path / "My Project"
    folder.mkdir()

    assert re.fullmatch(r"my-project-[0-9a-f]{8}", project_key(folder))


@needs_git
def test_linked_worktrees_share_their_repository_s_key(tmp_path: Path) -> None:
    main = tmp_path / "main"
    main.mkdir()
    git(main, "init", "-q")
    git(main, "commit", "-q", "--allow-empty", "-m", "first")
    git(main, "worktree", "add", "-q", "../one")
    git(main, "worktree", "add", "-q", "../two")
    (tmp_path / "one" / "deep").mkdir()

    keys = {project_key(tmp_path / name) for name in ("main", "one", "two", "one/deep")}

    assert len(keys) == 1


@needs_git
def test_the_worktrees_of_a_bare_repository_share_its_key(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    git(source, "init", "-q")
    git(source, "commit", "-q", "--allow-empty", "-m", "first")
    git(tmp_path, "clone", "-q", "--bare", "source", "bare.git")
    git(tmp_path / "bare.git", "worktree", "add", "-q", "../one", "-b", "one")

    assert project_root(tmp_path / "one") == tmp_path / "bare.git"


@needs_git
def test_a_submodule_is_a_project_of_its_own(tmp_path: Path) -> None:
    for name in ("library", "main"):
        (tmp_path / name).mkdir()
        git(tmp_path / name, "init", "-q")
        git(tmp_path / name, "commit", "-q", "--allow-empty", "-m", "first")
    git(
        tmp_path / "main",
        *("-c", "protocol.file.allow=always"),
        *("submodule", "add", "-q", str(tmp_path / "library"), "lib"),
    )

    assert project_root(tmp_path / "main" / "lib") == tmp_path / "main" / "lib"


@pytest.mark.parametrize(
    "content",
    ["", "gitdir:", "gitdir: /nowhere", "nonsense", "gitdir: a\0b", b"\xff\xfe", "gitdir: loop"],
)
def test_a_git_file_that_leads_nowhere_marks_a_project_of_its_own(
    tmp_path: Path, content: str | bytes
) -> None:
    (tmp_path / ".git").write_bytes(content if isinstance(content, bytes) else content.encode())
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "a").mkdir()

    assert project_root(tmp_path / "a") == tmp_path
