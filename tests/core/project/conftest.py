"""What the tests of the project tools share: a scratch project and calls on it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hindnote.core.project.contract.bounds import MAX_DETAILS_BYTES, MAX_DTO_BYTES
from hindnote.core.project.contract.marks import json_size
from hindnote.core.project.run import ToolAnswer, run_tool
from hindnote.hosts.pi import output_adapter

Run = Callable[..., ToolAnswer]


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """Return the host session's directory, with something beside it that must stay as it is."""
    project = tmp_path / "session"
    project.mkdir()
    (tmp_path / "beside").mkdir()
    (tmp_path / "beside" / "secret.md").write_text("---\ntitle: Secret\n---\nsecret words\n")
    return project


@pytest.fixture
def run(base: Path) -> Run:
    """Return a function that calls a tool and checks what holds for every answer."""

    def call(name: str, /, **arguments: Any) -> ToolAnswer:
        answer = run_tool(f"project_{name}", arguments, base_cwd=base)
        output_adapter(f"project_{name}").validate_python(answer.dto)
        assert json_size(answer.dto) <= MAX_DTO_BYTES
        assert len(answer.text.encode()) <= 32_768
        assert json_size(answer.details) <= MAX_DETAILS_BYTES
        return answer

    return call


@pytest.fixture
def new_todo(run: Run) -> Callable[..., dict[str, Any]]:
    """Return a function that creates a todo and returns its identity."""

    def create(title: str = "Fix it", **arguments: Any) -> dict[str, Any]:
        given = {"priority": "p1", "body": "body\n", **arguments}
        todo: dict[str, Any] = run("todo_create", title=title, **given).dto["data"]["todo"]
        return todo

    return create
