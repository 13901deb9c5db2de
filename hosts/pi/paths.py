"""Where the extension lies, in hindnote and in Pi's folders, and how Pi comes to load it."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from hindnote.core.fs.bounded import read_bounded
from hindnote.core.system.process import process_directory
from hindnote.core.system.programs import on_path
from hindnote.core.system.shortage import is_shortage

SOURCE = Path(__file__).parent / "extension"
"""The extension as this hindnote ships it."""

MANIFEST = "install.json"
"""Written by ``hindnote install pi`` beside the extension: what it wrote, and the interpreter."""

FILES = re.compile(r"(?!install\.json$)[a-z][a-z0-9-]*\.(?:ts|json)")
"""The names of all files that an installation of any hindnote consists of, without the manifest."""

NAME = "hindnote"
"""The extension's folder among Pi's extensions, and its name as a package."""

PYTHON_VARIABLE = "HINDNOTE_PYTHON"
"""Environment variable that names the interpreter, in place of any that was written down."""


class Interpreter(Struct, frozen=True):
    """What an extension runs, and who said so."""

    python: str
    """An absolute path; something else where that is what was written, which is then not run."""

    by: Literal["variable", "manifest", "path"]


def interpreter(folder: Path) -> Interpreter:
    """Return what an extension in ``folder`` runs, as it finds it itself."""
    if named := os.environ.get(PYTHON_VARIABLE):
        return Interpreter(named, "variable")
    written = _read_object(folder / MANIFEST).get("python")
    if isinstance(written, str):
        return Interpreter(written, "manifest")
    return Interpreter(on_path("python3") or "python3", "path")


def shipped() -> dict[str, bytes]:
    """Return the files that an installation consists of, by name, without the manifest."""
    paths = sorted(path for path in SOURCE.iterdir() if path.suffix in {".ts", ".json"})
    return {path.name: path.read_bytes() for path in paths}


def agent_dir() -> Path:
    """Return Pi's own folder: ``PI_CODING_AGENT_DIR``, or ``~/.pi/agent``."""
    named = os.environ.get("PI_CODING_AGENT_DIR")
    return Path(named or "~/.pi/agent").expanduser().absolute()


def session_dir(settings: Path) -> str | None:
    """Return the ``sessionDir`` of a settings file, as it stands there; None when it sets none."""
    try:
        value = json.loads(read_bounded(settings))
    except (OSError, ValueError, RecursionError) as error:
        if is_shortage(error):
            raise
        return None
    folder = value.get("sessionDir") if isinstance(value, dict) else None
    return folder if isinstance(folder, str) else None


class Scope(Struct, frozen=True):
    """One of the two places in which Pi looks for extensions."""

    name: str
    """``global`` or ``project``."""

    folder: Path
    """Pi's folder there: it holds ``settings.json`` and ``extensions``."""

    top: Path | None = None
    """The project's directory, whose files others may have written; None: the person's own."""

    @property
    def extension(self) -> Path:
        """Where ``hindnote install pi`` puts the extension."""
        return self.folder / "extensions" / NAME

    def referenced(self) -> Iterator[Path]:
        """Yield hindnote folders that the settings name: ``pi install`` does not copy."""
        settings = _read_object(self.folder / "settings.json")
        for entry in [*_list(settings.get("packages")), *_list(settings.get("extensions"))]:
            source = entry.get("source") if isinstance(entry, dict) else entry
            if not isinstance(source, str) or source.startswith(("npm:", "git:", "-", "builtin:")):
                continue
            try:
                path = (self.folder / Path(source.removeprefix("+")).expanduser()).resolve()
                folder = path if path.is_dir() else path.parent
            except (OSError, RuntimeError, ValueError):
                continue  # no path on this system: too long, or with a NUL in it
            if _read_object(folder / "package.json").get("name") == NAME:
                yield folder


def scopes() -> tuple[Scope, Scope]:
    """Return the global place and the one of the project in the current directory."""
    project = process_directory()
    return Scope("global", agent_dir()), Scope("project", project / ".pi", project)


def _read_object(path: Path) -> dict[str, Any]:
    """Return a JSON object from a file; empty when there is none to be read."""
    try:
        data = json.loads(read_bounded(path))
    except (OSError, ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
