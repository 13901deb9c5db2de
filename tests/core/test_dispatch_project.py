"""One call of a project tool from a host, from start to finish."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hindnote import HostCall, HostIdentity, SessionEntry, hookimpl
from hindnote.core.call import Dispatcher
from hindnote.core.errors import HostFailure
from hindnote.core.plugins.hosts import Hosts
from hindnote.core.project.run import run_tool
from hindnote.core.tools.operation import ArgumentError


class Host:
    """A host whose base directory is not where its call says that it runs."""

    def __init__(self, base: Path) -> None:
        self._base = base
        self.asked = 0

    @hookimpl
    def host_base_cwd(self, call: HostCall) -> Path:
        self.asked += 1
        return self._base

    @hookimpl
    def host_identity(self, call: HostCall) -> HostIdentity:
        raise AssertionError("a project tool needs no identity")

    @hookimpl
    def host_projection(self, call: HostCall, session: SessionEntry | None) -> None:
        return None


@pytest.fixture
def base(tmp_path: Path) -> Path:
    base = tmp_path / "base"
    (base / "todos").mkdir(parents=True)
    return base


@pytest.fixture
def host(base: Path) -> Host:
    return Host(base)


def project(host: Host, tmp_path: Path, name: str, arguments: dict[str, Any]) -> Any:
    dispatcher = Dispatcher(Hosts.of({"toy": host}), tmp_path / "home")
    return dispatcher.project(HostCall(host="toy", cwd=tmp_path), name, arguments)


def test_a_project_tool_works_in_the_directory_that_the_plugin_names_once(
    host: Host, base: Path, tmp_path: Path
) -> None:
    created = {"title": "Ship it", "priority": "p1", "body": "Now."}

    answer = project(host, tmp_path, "project_todo_create", created)

    assert host.asked == 1
    assert not answer.is_error
    assert [path.name for path in (base / "todos").glob("*.md")] == ["001-pending-p1-ship-it.md"]


def test_a_packaged_answer_holds_the_dto_and_the_blocks_of_the_text(
    host: Host, base: Path, tmp_path: Path
) -> None:
    packaged = project(host, tmp_path, "project_todo_list", {}).packaged()

    direct = run_tool("project_todo_list", {}, base_cwd=base)
    assert packaged == {
        "result": direct.dto,
        "blocks": list(direct.blocks),
        "details": direct.details,
        "isError": False,
    }
    assert "\n".join(packaged["blocks"]) == direct.text


def test_a_directory_outside_the_hosts_own_is_a_native_failure(host: Host, tmp_path: Path) -> None:
    answer = project(host, tmp_path, "project_todo_list", {"workspace_root": str(tmp_path)})

    assert answer.packaged()["isError"] is True
    assert answer.dto["error"]["code"] == "outside_workspace"


def test_wrong_arguments_and_names_are_failures_of_the_host(host: Host, tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="project_todo_list: invalid arguments: cwd"):
        project(host, tmp_path, "project_todo_list", {"cwd": "elsewhere"})
    with pytest.raises(HostFailure, match="no project tool named 'notes_list'"):
        project(host, tmp_path, "notes_list", {})


def test_the_seven_stay_closed_to_project_tools(host: Host, tmp_path: Path) -> None:
    dispatcher = Dispatcher(Hosts.of({"toy": host}), tmp_path / "home")

    with pytest.raises(HostFailure, match="no operation named 'project_todo_list'"):
        dispatcher.call(HostCall(host="toy", cwd=tmp_path), "project_todo_list", {})
