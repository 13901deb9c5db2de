from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from hindnote.core.notes import tree

pytestmark = pytest.mark.folder_home


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "secret.md").write_text("secret")
    return folder


def test_a_home_that_is_made_is_for_its_owner_alone_and_one_that_is_there_stays_as_it_is(
    agent: Any,
) -> None:
    assert not agent.home.exists()
    agent.write(address="@human/mine", content="x")
    assert agent.home.stat().st_mode & 0o777 == 0o700

    agent.home.chmod(0o755)
    agent.write(address="@human/other", content="x")
    assert agent.home.stat().st_mode & 0o777 == 0o755


def test_a_link_out_of_the_home_is_neither_listed_nor_read(agent: Any, outside: Path) -> None:
    agent.put("@human/mine", "mine")
    folder = agent.path("@human/mine").parent
    (folder / "link.md").symlink_to(outside / "secret.md")
    (folder / "links").symlink_to(outside)

    assert agent.addresses(glob="@human/**") == ["@human/mine.md"]
    assert agent.code("read", address="@human/link") == "outside_home"
    assert agent.code("read", address="@human/links/secret") == "outside_home"
    assert agent.search(query="secret")["files"] == []


@pytest.mark.parametrize("address", ["@human/link", "@human/links/new", "@human/links/secret"])
def test_nothing_is_written_through_a_link(agent: Any, outside: Path, address: str) -> None:
    agent.put("@human/mine", "mine")
    folder = agent.path("@human/mine").parent
    (folder / "link.md").symlink_to(outside / "secret.md")
    (folder / "links").symlink_to(outside)

    assert agent.code("write", address=address, content="x") == "outside_home"
    assert agent.code("update", address=address, archived=True) == "outside_home"
    assert agent.code("update", address=address, rename_to="@human/x") == "outside_home"
    assert agent.code("update", address="@human/mine", rename_to=address) == "outside_home"
    assert [p.name for p in outside.iterdir()] == ["secret.md"]
    assert (outside / "secret.md").read_text() == "secret"
    assert agent.bytes("@human/mine") == b"mine"


@pytest.mark.parametrize("absolute", [True, False])
def test_a_link_inside_the_home_is_listed_and_read_but_not_written(
    agent: Any, absolute: bool
) -> None:
    target = agent.put("@human/deep/mine", "mine")
    link = agent.path("@project/link")
    link.parent.mkdir(parents=True)
    link.symlink_to(target if absolute else os.path.relpath(target, link.parent))
    link.with_name("deep").symlink_to(target.parent)

    assert agent.addresses(glob="@project/**") == ["@project/deep/mine.md", "@project/link.md"]
    assert agent.read(address="@project/link")["text"] == "mine"
    assert agent.read(address="@project/deep/mine")["text"] == "mine"
    assert agent.code("write", address="@project/link", content="x") == "outside_home"
    assert agent.code("write", address="@project/deep/mine", content="x") == "outside_home"
    assert target.read_bytes() == b"mine"


def test_circles_of_links_end(agent: Any) -> None:
    folder = agent.put("@human/a/mine", "mine").parent
    (folder / "up").symlink_to(folder.parent)
    (folder / "one.md").symlink_to("two.md")
    (folder / "two.md").symlink_to("one.md")

    assert agent.addresses(glob="@human/**") == ["@human/a/mine.md"]
    assert agent.code("read", address="@human/a/one") == "outside_home"


def test_a_link_to_nothing_is_no_note(agent: Any) -> None:
    folder = agent.put("@human/mine", "mine").parent
    (folder / "gone.md").symlink_to("nowhere.md")

    assert agent.addresses(glob="@human/**") == ["@human/mine.md"]
    assert agent.code("read", address="@human/gone") == "not_found"


def test_the_home_itself_may_be_a_link(agent: Any, tmp_path: Path) -> None:
    real = tmp_path / "real"
    real.mkdir()
    agent.home.symlink_to(real)

    agent.write(address="@human/a", content="x")
    (real / "human" / "b.md").symlink_to(agent.home / "human" / "a.md")

    assert agent.addresses() == ["@human/a.md", "@human/b.md"]
    assert agent.read(address="@human/b")["text"] == "x"


@pytest.mark.parametrize("operation", ["read", "write"])
def test_a_parent_swapped_for_a_link_before_it_is_opened_gains_nothing(
    agent: Any, outside: Path, monkeypatch: pytest.MonkeyPatch, operation: str
) -> None:
    folder = agent.put("@human/a/secret", "mine").parent
    opened = os.open

    def swap(path: Any, flags: int, *args: Any, **kwargs: Any) -> int:
        if path == "a" and not folder.is_symlink():
            folder.rename(folder.with_name("moved"))
            folder.symlink_to(outside)
        return opened(path, flags, *args, **kwargs)

    monkeypatch.setattr(tree.os, "open", swap)
    arguments = {"content": "x"} if operation == "write" else {}

    outcome = agent.refused(operation, address="@human/a/secret", **arguments)

    assert outcome.code in {"outside_home", "not_found", "changed"}
    assert (outside / "secret.md").read_text() == "secret"
    assert [p.name for p in outside.iterdir()] == ["secret.md"]


def test_a_file_swapped_for_a_link_before_it_is_opened_gains_nothing(
    agent: Any, outside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = agent.put("@human/a", "mine")
    opened = os.open

    def swap(name: Any, flags: int, *args: Any, **kwargs: Any) -> int:
        if name == "a.md" and not path.is_symlink():
            path.unlink()
            path.symlink_to(outside / "secret.md")
        return opened(name, flags, *args, **kwargs)

    monkeypatch.setattr(tree.os, "open", swap)

    assert agent.code("read", address="@human/a") == "outside_home"


def test_what_is_no_file_is_no_note(agent: Any) -> None:
    folder = agent.put("@human/mine", "mine").parent
    (folder / "folder.md").mkdir()
    os.mkfifo(folder / "pipe.md")

    assert agent.addresses(glob="@human/**") == ["@human/mine.md"]
    for address in ("@human/folder", "@human/pipe"):
        assert agent.code("read", address=address) == "not_found"
        assert agent.code("write", address=address, content="x") == "address_collision"


def test_a_note_that_becomes_a_pipe_while_notes_are_listed_costs_itself(
    agent: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent.put("@human/a", "one")
    odd = agent.put("@human/b", "two")
    really = os.open

    def swap(path: Any, *rest: Any, **more: Any) -> int:
        if path == odd.name and odd.is_file():
            odd.unlink()
            os.mkfifo(odd)
        return really(path, *rest, **more)

    monkeypatch.setattr(os, "open", swap)
    listed = agent.list(glob="@human/**")

    assert [note["address"] for note in listed["files"]] == ["@human/a.md"]
    assert listed["unreadable"] == 1


def test_a_file_is_no_folder(agent: Any) -> None:
    agent.put("@human/mine", "mine").rename(agent.home / "human" / "mine")

    assert agent.code("write", address="@human/mine/x", content="x") == "address_collision"
    assert agent.code("read", address="@human/mine/x") == "not_found"


def test_a_refused_write_leaves_no_folders(agent: Any) -> None:
    agent.write(address="@human/a", content="x")

    assert agent.code("write", address="@human/b/c/d?", content="x") == "invalid_address"
    assert agent.code("write", address="@human/b/c/d", content="x" * 2_000_000) == "too_large"
    assert sorted(p.name for p in (agent.home / "human").iterdir()) == ["a.md"]


def test_handles_are_closed(agent: Any, outside: Path) -> None:
    agent.write(address="@human/a/b", content="x")
    (agent.home / "human" / "link.md").symlink_to(outside / "secret.md")

    def handles() -> int:
        return len(list(Path("/proc/self/fd").iterdir()))

    if not Path("/proc/self/fd").exists():
        pytest.skip("the system does not show open handles")
    before = handles()
    for _ in range(3):
        agent.list()
        agent.read(address="@human/a/b")
        agent.refused("read", address="@human/link")
        agent.refused("write", address="@human/link", content="x")
        agent.refused("read", address="@human/none/none")
        agent.refused("write", address="@human/A/c", content="x")
        agent.write(address="@human/a/b", content="y")

    assert handles() == before
