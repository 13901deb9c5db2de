from __future__ import annotations

from pathlib import Path

import pytest

from hindnote.core.system.programs import in_project, on_path, outside_project


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a program in it, seen from one of its folders."""
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    (project / "deep").mkdir()
    (project / "deep" / "tool").touch(0o755)
    monkeypatch.chdir(project / "deep")
    return project


@pytest.mark.parametrize("path", ["", ".", ":", ".:deep:../deep"])
def test_relative_folders_of_the_path_hold_no_programs(
    project: Path, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    monkeypatch.setenv("PATH", path)

    assert on_path("tool") is None
    assert outside_project("tool") is None


def test_a_program_in_the_project_is_passed_over(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "tool").touch(0o755)
    monkeypatch.setenv("PATH", f"{project / 'deep'}:{tmp_path / 'bin'}")

    assert on_path("tool") == str(project / "deep" / "tool")
    assert outside_project("tool") == str(tmp_path / "bin" / "tool")


def test_a_link_into_the_project_lies_in_it_and_so_does_a_link_out_of_it(
    project: Path, tmp_path: Path
) -> None:
    (tmp_path / "in").symlink_to(project / "deep")
    (project / "out").symlink_to("/usr")

    assert in_project(tmp_path / "in" / "tool")
    assert in_project(project / "out" / "bin")
    assert not in_project("/usr/bin")
