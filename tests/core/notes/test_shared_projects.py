"""``@project`` in a database: the notes of a repository, wherever it was cloned to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from postgres import Cluster

from hindnote.core.places.database_home import DatabaseHome

from .conftest import Agent


@pytest.fixture
def home(team: Cluster) -> DatabaseHome:
    return DatabaseHome(team.url("team", "ada"))


def clone(folder: Path, url: str | None) -> Path:
    (folder / ".git").mkdir(parents=True)
    if url is not None:
        (folder / ".git" / "config").write_text(f'[remote "origin"]\n\turl = {url}\n')
    return folder


def test_two_clones_share_the_notes_of_their_project(home: DatabaseHome, tmp_path: Path) -> None:
    one = Agent(home, clone(tmp_path / "first" / "app", "git@h.example:team/app.git"))
    other = Agent(home, clone(tmp_path / "copy", "https://bob@h.example/team/app"))

    written = one.write(address="@project/plan", content="Ship it.\n")

    assert written["project_key"].startswith("app-")
    assert other.read(address="@project/plan")["text"] == "Ship it.\n"


def test_other_repositories_and_paths_without_a_remote_do_not(
    home: DatabaseHome, tmp_path: Path
) -> None:
    one = Agent(home, clone(tmp_path / "app", "https://h.example/team/app"))
    one.write(address="@project/plan", content="Ship it.\n")

    for cwd in (clone(tmp_path / "b", "https://h.example/team/b"), clone(tmp_path / "c", None)):
        code: Any = Agent(home, cwd).code("read", address="@project/plan")
        assert code == "not_found"
