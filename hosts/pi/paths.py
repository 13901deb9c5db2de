"""The extension's paths, in hindnote and in Pi's folders, and how Pi finds it."""

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
"""The extension's source files in this package."""

MANIFEST = "install.json"
"""Written next to the extension by ``hindnote install pi``: the installed files and the
interpreter."""

FILES = re.compile(r"(?!install\.json$)[a-z][a-z0-9-]*\.(?:ts|json)")
"""Matches each file of an installation except the manifest, in any version of hindnote."""

NAME = "hindnote"
"""Name of the extension's folder in Pi's extensions folder, and of its package."""

PYTHON_VARIABLE = "HINDNOTE_PYTHON"
"""Environment variable with the interpreter's path; takes precedence over the manifest."""


class Interpreter(Struct, frozen=True):
    """The interpreter of an extension, and what determined it."""

    python: str
    """An absolute path; any other recorded value is kept as it is, and is not run."""

    by: Literal["variable", "manifest", "path"]


def interpreter(folder: Path) -> Interpreter:
    """Return the interpreter that an extension in ``folder`` uses, by the extension's own rules."""
    if named := os.environ.get(PYTHON_VARIABLE):
        return Interpreter(named, "variable")
    written = _read_object(folder / MANIFEST).get("python")
    if isinstance(written, str):
        return Interpreter(written, "manifest")
    return Interpreter(on_path("python3") or "python3", "path")


def shipped() -> dict[str, bytes]:
    """Return the files of an installation by name, without the manifest."""
    paths = sorted(path for path in SOURCE.iterdir() if path.suffix in {".ts", ".json"})
    return {path.name: path.read_bytes() for path in paths}


def agent_dir() -> Path:
    """Return Pi's configuration folder: ``PI_CODING_AGENT_DIR``, or ``~/.pi/agent``."""
    named = os.environ.get("PI_CODING_AGENT_DIR")
    return Path(named or "~/.pi/agent").expanduser().absolute()


def session_dir(settings: Path) -> str | None:
    """Return the unchanged ``sessionDir`` of a settings file; None when it is not set."""
    try:
        value = json.loads(read_bounded(settings))
    except (OSError, ValueError, RecursionError) as error:
        if is_shortage(error):
            raise
        return None
    folder = value.get("sessionDir") if isinstance(value, dict) else None
    return folder if isinstance(folder, str) else None


class Scope(Struct, frozen=True):
    """One of the two scopes in which Pi looks for extensions."""

    name: str
    """``global`` or ``project``."""

    folder: Path
    """Pi's folder for this scope, which contains ``settings.json`` and ``extensions``."""

    top: Path | None = None
    """The project's directory, whose files may come from others; None for the person's own
    scope."""

    @property
    def extension(self) -> Path:
        """The folder in which ``hindnote install pi`` puts the extension."""
        return self.folder / "extensions" / NAME

    def referenced(self) -> Iterator[Path]:
        """Yield hindnote folders that the settings name, since ``pi install`` makes no copies."""
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
    """Return the global scope and that of the project in the current directory."""
    project = process_directory()
    return Scope("global", agent_dir()), Scope("project", project / ".pi", project)


def _read_object(path: Path) -> dict[str, Any]:
    """Return a JSON object from a file; empty when it cannot be read."""
    try:
        data = json.loads(read_bounded(path))
    except (OSError, ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
