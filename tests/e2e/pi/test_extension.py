"""The extension by itself: against Pi's types, and in Node.js without a session."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

import hindnote.hosts.pi

EXTENSION = Path(hindnote.hosts.pi.__file__).parent / "extension"
HERE = Path(__file__).parent / "ts"


@pytest.fixture
def folder(tmp_path: Path, host_modules: Path) -> Path:
    """A copy of the extension with its tests, beside Pi and what Pi gives to extensions."""
    folder = tmp_path / "hindnote"
    shutil.copytree(EXTENSION, folder)
    shutil.copytree(HERE, folder, dirs_exist_ok=True)
    (tmp_path / "node_modules").symlink_to(host_modules)
    return folder


def run(node: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [node / "node", *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_the_extension_type_checks_against_pi_itself(
    folder: Path, node: Path, host_modules: Path
) -> None:
    done = run(node, host_modules / "typescript" / "bin" / "tsc", "--project", folder)

    assert done.stdout == ""
    assert done.returncode == 0


def test_the_extensions_own_tests_pass(folder: Path, node: Path) -> None:
    done = run(node, "--test", "--test-reporter=tap", folder / "extension.test.ts")

    assert done.returncode == 0, done.stdout
