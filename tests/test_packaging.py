"""What ships: the wheel's files compared with the tree, built from a clean copy."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]

SOURCES = ("core", "hosts", "testing")
ROOT_FILES = {"__init__.py", "hookspecs.py", "hosting.py", "py.typed"}

UNSHIPPED = "tests"
"""A host's own tests, in TypeScript, lie in folders of this name."""


def tree() -> set[str]:
    """Return the files of the package, by their path in the repository."""
    listed = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "-z", *SOURCES, *ROOT_FILES],
        capture_output=True,
        check=True,
        timeout=60,
    )
    names = {name for name in listed.stdout.decode().split("\0") if name}
    return {name for name in names if UNSHIPPED not in PurePosixPath(name).parts}


def settings() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """The wheel, built from a copy of the files that git knows."""
    if importlib.util.find_spec("setuptools") is None:
        pytest.skip("needs setuptools, to build without a network")
    copy = tmp_path_factory.mktemp("copy")
    for name in tree() | {"pyproject.toml", "README.md", "LICENSE"}:
        target = copy / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, target)
    out = tmp_path_factory.mktemp("wheel")
    code = f"from setuptools import build_meta; print(build_meta.build_wheel({str(out)!r}))"
    subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        cwd=copy,
        check=True,
        capture_output=True,
        timeout=120,
    )
    return zipfile.ZipFile(next(out.glob("*.whl")))


needs_git = pytest.mark.skipif(
    shutil.which("git") is None or not (ROOT / ".git").exists(), reason="needs the repository"
)


@needs_git
def test_the_wheel_holds_the_tree_and_nothing_else(wheel: zipfile.ZipFile) -> None:
    held = {
        name.removeprefix("hindnote/") for name in wheel.namelist() if ".dist-info/" not in name
    }

    assert held == tree()


@needs_git
def test_every_module_belongs_to_a_package_that_is_listed() -> None:
    packages = set(settings()["tool"]["setuptools"]["packages"])

    folders = {str(PurePosixPath(name).parent) for name in tree() if name.endswith(".py")}

    assert {
        "hindnote" if folder == "." else "hindnote." + folder.replace("/", ".")
        for folder in folders
    } == packages


def test_package_data_is_named_precisely() -> None:
    patterns = settings()["tool"]["setuptools"]["package-data"]

    assert [
        pattern for several in patterns.values() for pattern in several if "**" in pattern
    ] == []


@needs_git
def test_the_wheel_carries_its_types_and_its_licence(wheel: zipfile.ZipFile) -> None:
    names = wheel.namelist()

    assert "hindnote/py.typed" in names
    assert any(name.endswith("/LICENSE") and ".dist-info/" in name for name in names)


@needs_git
def test_every_entry_point_names_what_the_wheel_holds(wheel: zipfile.ZipFile) -> None:
    project = settings()["project"]
    groups = [project["scripts"], *project["entry-points"].values()]
    modules = {reference.partition(":")[0] for group in groups for reference in group.values()}
    names = set(wheel.namelist())

    missing = [
        module
        for module in modules
        if not {f"{module.replace('.', '/')}.py", f"{module.replace('.', '/')}/__init__.py"} & names
    ]
    assert missing == []


def test_every_dependency_has_a_lower_bound() -> None:
    assert [name for name in settings()["project"]["dependencies"] if ">=" not in name] == []
