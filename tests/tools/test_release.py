"""The release script looks at the tree, the changelog and the tags before it builds anything."""

from __future__ import annotations

import importlib.util
import subprocess
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "tools" / "release.py"


def git(folder: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.invalid")
    command = ["git", *identity, "-C", str(folder), *arguments]
    subprocess.run(command, check=True, capture_output=True, timeout=60)


def commit(folder: Path, changelog: str) -> None:
    (folder / "CHANGELOG.md").write_text(changelog, "utf-8")
    git(folder, "add", "--all")
    git(folder, "commit", "--allow-empty", "--message", "changelog")


@pytest.fixture
def release(tmp_path: Path) -> ModuleType:
    """The script in a repository of its own, whose version is ready to be released."""
    (tmp_path / "tools").mkdir()
    copy = tmp_path / "tools" / "release.py"
    copy.write_bytes(SCRIPT.read_bytes())
    (tmp_path / ".gitignore").write_text("__pycache__/\n", "utf-8")
    (tmp_path / "pyproject.toml").write_text('[project]\nversion = "1.2.0"\n', "utf-8")
    git(tmp_path, "init", "--quiet")
    commit(tmp_path, "# Changelog\n\n## Unreleased\n\n## 1.2.0 - 2026-12-01\n\n- All of it.\n")
    spec = importlib.util.spec_from_file_location("release_script", copy)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_version_with_its_changelog_in_a_clean_tree_may_be_released(release: ModuleType) -> None:
    release.check_tree(release.version())


def test_a_tree_with_changes_is_not_released(release: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "left-over").touch()

    with pytest.raises(release.ReleaseError, match="the tree has changes"):
        release.check_tree("1.2.0")


@pytest.mark.parametrize("heading", ["## Unreleased", "## 1.2.0", "## 1x2.0 - 2026-12-01"])
def test_a_version_that_the_changelog_does_not_date_is_not_released(
    release: ModuleType, tmp_path: Path, heading: str
) -> None:
    commit(tmp_path, f"# Changelog\n\n{heading}\n")

    with pytest.raises(release.ReleaseError, match=r"no heading '## 1\.2\.0 - YYYY-MM-DD'"):
        release.check_tree("1.2.0")


def test_a_tagged_version_is_checked_again_at_its_tag_alone(
    release: ModuleType, tmp_path: Path
) -> None:
    """The workflow checks out the tag; on a later commit the version is spent."""
    git(tmp_path, "tag", "v1.2.0")
    release.check_tree("1.2.0")
    git(tmp_path, "commit", "--allow-empty", "--message", "later")

    with pytest.raises(release.ReleaseError, match="another commit's tag"):
        release.check_tree("1.2.0")


def test_an_unknown_step_is_explained(
    release: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    assert release.main(["publish"]) == 2
    assert "tools/release.py check" in capsys.readouterr().err
