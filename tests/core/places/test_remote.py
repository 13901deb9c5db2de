"""The key of a project that many machines share."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindnote.core.places.database_home import DatabaseHome
from hindnote.core.places.project import key_in, project_key, shared_key
from hindnote.core.places.remote import normalized, remote_key

SHARED = DatabaseHome("postgresql://h/d")
SAME = (
    "git@Host.example:team/app.git",
    "host.example:team/app",
    "ssh://git@host.example:2222/team/app.git",
    "ssh://git@host.example/team/app/",
    "https://host.example/team/app",
    "https://ada:secret@HOST.example:8443/team/app.git",
    "http://host.example//team/app.git/",
    "git://host.example/team/app.git?x=1#y",
    "https://host.example/team/%61pp.git",
)


def git(folder: Path, *arguments: str) -> None:
    command = ["git", "-C", str(folder), "-c", "user.name=t", "-c", "user.email=t@example.invalid"]
    subprocess.run([*command, *arguments], check=True, capture_output=True, timeout=60)


def repository(folder: Path, config: str = "") -> Path:
    (folder / ".git").mkdir(parents=True)
    (folder / ".git" / "config").write_text(config, "utf-8")
    return folder


def remote(url: str, name: str = "origin") -> str:
    return f'[remote "{name}"]\n\turl = {url}\n'


@pytest.mark.parametrize("url", SAME)
def test_each_spelling_of_a_remote_is_one_place(url: str) -> None:
    assert normalized(url) == "host.example/team/app"


@pytest.mark.parametrize(
    "url",
    ["/srv/app.git", "../app", "file:///srv/app.git", "C:\\work\\app", "c:/work/app", "", "https://h",
     "https:///team/app", "ssh://h/.git", "host.example:"],
)  # fmt: skip
def test_what_names_no_place_on_another_machine_is_none(url: str) -> None:
    assert normalized(url) is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://h.example/team/app", "https://h.example/team/App"),
        ("https://h.example/team/app", "https://h.example/other/app"),
        ("https://h.example/team/app", "https://g.example/team/app"),
    ],
)
def test_other_places_are_others(one: str, other: str) -> None:
    assert normalized(one) != normalized(other)


@given(st.text(max_size=200))
def test_no_text_of_a_url_or_a_configuration_crashes(text: str) -> None:
    place = normalized(text)
    assert place is None or place == normalized(f"https://{place}") or "%" in place


def test_two_clones_at_different_paths_have_one_key(tmp_path: Path) -> None:
    one = repository(tmp_path / "a" / "work", remote(SAME[0]))
    other = repository(tmp_path / "elsewhere", remote(SAME[5]))

    assert key_in(SHARED, one) == key_in(SHARED, other)
    assert re.fullmatch(r"app-[0-9a-f]{8}", key_in(SHARED, one))
    assert "secret" not in key_in(SHARED, other)


def test_a_folder_home_keeps_the_key_of_the_path(tmp_path: Path) -> None:
    folder = repository(tmp_path / "work", remote(SAME[0]))

    assert key_in(tmp_path / "notes", folder) == project_key(folder)
    assert key_in(SHARED, folder) != project_key(folder)


@pytest.mark.parametrize(
    "config",
    ["", remote("/srv/app.git"), remote("https://h/a/b", "one") + remote("https://h/a/c", "two")],
    ids=["no remote", "a local one", "two, none of them origin"],
)
def test_without_a_remote_that_tells_the_key_is_that_of_the_path(
    tmp_path: Path, config: str
) -> None:
    folder = repository(tmp_path / "work", config)

    assert shared_key(folder) is None
    assert key_in(SHARED, folder) == project_key(folder)


def test_the_only_remote_counts_and_origin_before_others(tmp_path: Path) -> None:
    only = repository(tmp_path / "one", remote("https://h.example/x/only", "upstream"))
    both = repository(
        tmp_path / "two",
        remote("https://h.example/x/other", "upstream") + remote("https://h.example/x/mine"),
    )

    assert (shared_key(only) or "").startswith("only-")
    assert (shared_key(both) or "").startswith("mine-")


@pytest.mark.parametrize(
    "config",
    [
        '[remote "origin"]\nURL="https://h.example/t/app.git" ; of the team\n',
        '[REMOTE "origin"] url = https://h.example/t/app   # here\n',
        '[remote "origin"]\n url = https://h.exa\\\nmple/t/app\n',
        '\ufeff[core]\r\n\tbare = false\r\n[remote "origin"]\r\n\turl = https://h.example/t/app\r\n',
        '[include]\n path = /etc/passwd\n[remote "origin"]\n url = https://h.example/t/app\n url = no\n',
        '; [remote "origin"]\n[branch "origin"]\n url = no\n[remote "origin"]\n url = https://h.example/t/app',
    ],
)
def test_the_configuration_is_read_as_git_reads_it(tmp_path: Path, config: str) -> None:
    folder = repository(tmp_path / "work", config)
    expected = repository(tmp_path / "plain", remote("https://h.example/t/app"))

    assert shared_key(folder) == shared_key(expected) is not None


@given(
    name=st.text(st.characters(min_codepoint=32, max_codepoint=0x2FF), min_size=1, max_size=20),
    path=st.text(st.characters(min_codepoint=33, max_codepoint=0x2FF), min_size=1, max_size=30),
)
def test_what_git_writes_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, name: str, path: str
) -> None:
    folder = tmp_path_factory.mktemp("r")
    url = f"https://h.example/t/{path}"
    repository(folder)
    done = subprocess.run(
        ["git", "config", "--file", folder / ".git" / "config", f"remote.{name}.url", url],
        capture_output=True,
        check=False,
        timeout=60,
    )
    if done.returncode:
        return

    place = normalized(url)

    assert (shared_key(folder) is None) == (place is None)
    if place is not None:
        other = repository(tmp_path_factory.mktemp("p"))
        escaped = url.replace("\\", "\\\\").replace('"', '\\"')
        (other / ".git" / "config").write_text(f'[remote "x"]\nurl = "{escaped}"\n', "utf-8")
        assert shared_key(folder) == shared_key(other)


def test_worktrees_and_submodules_of_git_itself_are_followed(tmp_path: Path) -> None:
    main = tmp_path / "main"
    main.mkdir()
    git(main, "init", "--quiet")
    git(main, "commit", "--allow-empty", "--quiet", "-m", "x")
    git(main, "remote", "add", "origin", "https://h.example/t/app")
    git(main, "worktree", "add", "--quiet", str(tmp_path / "tree"))
    part = tmp_path / "part"
    part.mkdir()
    git(part, "init", "--quiet")
    git(part, "commit", "--allow-empty", "--quiet", "-m", "x")
    git(main, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(part), "sub")
    git(main / "sub", "remote", "set-url", "origin", "https://h.example/t/part")

    assert (shared_key(main) or "").startswith("app-")
    assert shared_key(tmp_path / "tree") == shared_key(main)
    assert (shared_key(main / "sub") or "").startswith("part-")


@pytest.mark.parametrize("kind", ["pipe", "device", "huge", "folder", "not text"])
def test_an_odd_configuration_is_as_none(tmp_path: Path, kind: str) -> None:
    folder = repository(tmp_path / "work")
    config = folder / ".git" / "config"
    config.unlink()
    if kind == "pipe":
        os.mkfifo(config)
    elif kind == "device":
        config.symlink_to("/dev/zero")
    elif kind == "huge":
        config.write_text(remote(SAME[0]))
        os.truncate(config, 1 << 33)
    elif kind == "folder":
        config.mkdir()
    else:
        config.write_bytes(b"\xff\xfe\x00[remote")

    assert remote_key(folder / ".git") is None
