from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from hindnote.core.places.project import project_key, project_root, project_trees


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


@pytest.mark.parametrize("kind", ["pipe", "device", "huge"])
@pytest.mark.parametrize("file", [".git", "gitdir/commondir"])
def test_what_stands_in_the_place_of_git_s_pointers_is_never_waited_for(
    tmp_path: Path, kind: str, file: str
) -> None:
    (tmp_path / "gitdir").mkdir()
    (tmp_path / ".git").write_text("gitdir: gitdir")
    (tmp_path / file).unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(tmp_path / file)
    elif kind == "device":
        (tmp_path / file).symlink_to("/dev/zero")
    else:
        with (tmp_path / file).open("wb") as huge:
            huge.truncate(1 << 40)

    assert project_root(tmp_path) == tmp_path


def test_a_project_s_trees_are_all_repositories_around_it_and_a_worktree_s_main_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hindnote.core.places.project.person_home", lambda: None)
    main, tree = tmp_path / "main", tmp_path / "outer" / "tree"
    (main / ".git" / "worktrees" / "tree").mkdir(parents=True)
    (main / ".git" / "worktrees" / "tree" / "commondir").write_text("../..")
    (tree / "deep").mkdir(parents=True)
    (tmp_path / "outer" / ".git").mkdir()
    (tree / ".git").write_text(f"gitdir: {main}/.git/worktrees/tree")

    assert project_trees(tree / "deep") == [main, tmp_path / "outer", tree, tree / "deep"]


def test_a_folder_that_holds_the_person_s_home_is_no_project_s_tree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home" / "someone"
    (home / "work").mkdir(parents=True)
    (home / ".git").mkdir()
    monkeypatch.setattr("hindnote.core.places.project.person_home", lambda: home)

    assert project_trees(home) == []
    assert project_trees(tmp_path) == []
    assert project_trees(home / "work") == [home / "work"]
