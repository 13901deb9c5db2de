from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from hindnote.core.install.lasting import vanishing


@pytest.fixture(autouse=True)
def _usual(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("UV_CACHE_DIR", "TMPDIR", "TEMP", "TMP"):
        monkeypatch.delenv(variable, raising=False)


@pytest.mark.parametrize(
    ("python", "told"),
    # Where uvx 0.13.8 and pipx 1.18.4 put them, and an older pipx.
    [
        ("/home/a/.cache/uv/archive-v0/5v57KAcb2biv6m1y/bin/python", "uv's cache"),
        ("/home/a/.cache/uv/environments-v2/5v57KAcb2biv6m1y/bin/python", "uv's cache"),
        ("/home/a/.cache/pipx/e64fb52c2317198/bin/python", "pipx's cache"),
        ("/Users/a/Library/Caches/pipx/e64fb52c2317198/bin/python", "pipx's cache"),
        ("/home/a/.local/pipx/.cache/e64fb52c2317198/bin/python", "pipx's cache"),
        ("/tmp/venv/bin/python", "temporary files"),
        ("/var/tmp/a/venv/bin/python3.13", "temporary files"),
    ],
)
def test_an_environment_that_vanishes_is_known_by_its_place(python: str, told: str) -> None:
    assert told in (vanishing(python) or "")


@pytest.mark.parametrize(
    "python",
    [
        "/home/a/.local/share/uv/tools/hindnote/bin/python",
        "/home/a/.local/share/pipx/venvs/hindnote/bin/python",
        "/home/a/.cache/pypoetry/virtualenvs/x/bin/python",
        "/home/a/work/.venv/bin/python",
        "/home/tmp/venv/bin/python",
        "/tmpfiles/venv/bin/python",
        "/usr/bin/python3",
    ],
)
def test_an_environment_that_lasts_is_let_be(python: str) -> None:
    assert vanishing(python) is None


def test_the_cache_that_a_variable_names_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UV_CACHE_DIR", "/fast/cache")
    assert "uv's cache" in (vanishing("/fast/cache/x/bin/python") or "")


@pytest.mark.parametrize("variable", ["TMPDIR", "TEMP", "TMP"])
def test_a_folder_that_the_environment_names_for_temporary_files_counts(
    variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, "/fast/scratch/")
    assert "temporary files" in (vanishing("/fast/scratch/venv/bin/python") or "")
    assert vanishing("/fast/venv/bin/python") is None


@pytest.mark.parametrize("folder", ["/", "", "."])
def test_a_folder_that_holds_everything_is_none_for_temporary_files(
    folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", folder)
    assert vanishing("/home/a/work/.venv/bin/python") is None


def environment_in(folder: Path) -> Path:
    """Make an environment that has what the tests' own has, and return its interpreter."""
    venv.create(folder, with_pip=False, symlinks=True)
    [site] = folder.glob("lib/python3*/site-packages")
    folders = [one for one in sys.path if one.endswith("site-packages")]
    lines = [f"import site; site.addsitedir({one!r})\n" for one in folders]
    (site / "tests.pth").write_text("".join(lines), "utf-8")
    return folder / "bin" / "python"


@pytest.mark.skipif(sys.platform == "win32", reason="the folders are those of POSIX")
@pytest.mark.parametrize("host", ["pi", "claude"])
def test_installing_from_a_temporary_environment_warns_and_names_what_lasts(
    tmp_path: Path, host: str
) -> None:
    python = environment_in(tmp_path / "venv")
    home = tmp_path / "home"
    home.mkdir()

    done = subprocess.run(
        [python, "-c", "from hindnote.core.cli import main; main()", "install", host],
        env={"PATH": os.defpath, "HOME": str(home), "TMPDIR": str(tmp_path)},
        cwd=home,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    [warning] = [line for line in done.stdout.splitlines() if line.startswith("warning: ")]
    assert warning.startswith(f"warning: {python} lies in a folder for temporary files")
    assert warning.endswith(f"`pipx install`, and run its `hindnote install {host}`")
