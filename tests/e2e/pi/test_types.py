from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import hindnote.hosts.pi

EXTENSION = Path(hindnote.hosts.pi.__file__).parent / "extension"


def test_the_extension_type_checks_against_pi_itself(
    tmp_path: Path, node: Path, host_modules: Path
) -> None:
    folder = tmp_path / "hindnote"
    shutil.copytree(EXTENSION, folder)
    shutil.copy(Path(__file__).parent / "tsconfig.json", folder)
    # Beside Pi, not inside it: its own modules lie in the same folder.
    (tmp_path / "node_modules").symlink_to(host_modules)
    compiler = host_modules / "typescript" / "bin" / "tsc"

    done = subprocess.run(
        [node / "node", compiler, "--project", folder],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )

    assert done.stdout == ""
    assert done.returncode == 0
