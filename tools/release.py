"""Builds and checks a release, and tags it; RELEASING.md says when to run it.

``python tools/release.py check`` and ``python tools/release.py tag``. Needs build and twine.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"


class ReleaseError(Exception):
    """The tree cannot be released; the message says what to do."""


def version() -> str:
    """Return the version that pyproject.toml declares."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    return str(declared)


def check_tree(wanted: str) -> None:
    """Check that the tree, the changelog and the tags fit a version.

    Raises:
        ReleaseError: One of them does not.
    """
    if _git("status", "--porcelain"):
        raise ReleaseError("the tree has changes; commit or remove them")
    heading = rf"^## {re.escape(wanted)} - \d{{4}}-\d\d-\d\d$"
    if not re.search(heading, (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE):
        raise ReleaseError(
            f"CHANGELOG.md has no heading '## {wanted} - YYYY-MM-DD'; move the entries under "
            "Unreleased below one"
        )
    if (
        _git("tag", "--list", f"v{wanted}")
        and f"v{wanted}" not in _git("tag", "--points-at").split()
    ):
        raise ReleaseError(
            f"v{wanted} is another commit's tag; set a new version in pyproject.toml"
        )


def build(wanted: str) -> None:
    """Build both archives into ``dist/``, check them, and try the wheel.

    Raises:
        ReleaseError: The installed wheel tells another version.
        subprocess.CalledProcessError: A step failed; it has printed why.
    """
    shutil.rmtree(DIST, ignore_errors=True)
    _run(sys.executable, "-m", "build", "--outdir", str(DIST), str(ROOT))
    _run(sys.executable, "-m", "twine", "check", "--strict", *map(str, sorted(DIST.iterdir())))
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = Path(folder, "bin", "python")
        _run(str(python), "-m", "pip", "install", "--quiet", str(next(DIST.glob("*.whl"))))
        told = subprocess.run(
            [Path(folder, "bin", "hindnote"), "--version"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
    if not told.endswith(f" {wanted}"):
        raise ReleaseError(f"the installed wheel says {told!r}, not version {wanted}")


def main(arguments: list[str]) -> int:
    """Run one step; return the exit status."""
    if arguments not in (["check"], ["tag"]):
        print(__doc__, file=sys.stderr)
        return 2
    wanted = version()
    try:
        check_tree(wanted)
        build(wanted)
    except ReleaseError as error:
        print(f"not released: {error}", file=sys.stderr)
        return 1
    except subprocess.CalledProcessError as error:
        print(f"not released: {error}", file=sys.stderr)
        return 1
    print(f"{wanted} is built in {DIST} and checked")
    if arguments == ["tag"]:
        _git("tag", "--annotate", f"v{wanted}", "--message", f"hindnote {wanted}")
        print(f"tagged; publish it with: git push origin v{wanted}")
    return 0


def _git(*arguments: str) -> str:
    return subprocess.run(
        ["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.strip()


def _run(*command: str) -> None:
    subprocess.run(command, cwd=ROOT, check=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
