"""The key of a project in a shared home: from its repository's remote, the same on each machine.

The remote is read from the repository's own ``config`` file (format: git-config(1) of Git 2.39).
No git process runs, and files that the configuration includes are not read.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

from hindnote.core.fs.bounded import read_bounded
from hindnote.core.text.slug import slug

_LIMIT = 4 * 1024 * 1024
"""Maximum size in bytes of a repository's configuration."""

_BLANKS = " \t\r"
_SECTION = re.compile(r'\[[ \t]*([A-Za-z0-9.-]+)(?:[ \t]+"((?:[^"\\\n]|\\.)*)")?[ \t]*\]')
_ENTRY = re.compile(r"([A-Za-z][A-Za-z0-9-]*)[ \t]*(?:=[ \t]*(.*))?", re.DOTALL)
_VALUE = re.compile(r'\\(.)|"|([#;])|(.)', re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "b": "\b"}

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://([^/]*)(/.*)", re.DOTALL)
_SCP = re.compile(r"(?:[^@/:]+@)?(\[[^\]]+\]|[^/:\\]{2,}):(.+)", re.DOTALL)
"""As ssh takes it: ``[user@]host:path``. A single letter before the colon is a drive of Windows."""


def remote_key(repository: Path) -> str | None:
    """Return ``<slug of the remote's name>-<8 hex digits of sha256 of its normalized URL>``.

    The remote is ``origin``, or else the only one.

    Args:
        repository: The folder of a repository: ``.git``, or a bare repository.

    Returns:
        None when there is no such remote, when it is on this machine, and when the configuration
        cannot be read.
    """
    try:
        text = read_bounded(repository / "config", _LIMIT).decode("utf-8", "surrogateescape")
    except (OSError, ValueError):
        return None
    remotes = _remotes(text)
    url = remotes.get("origin") or (next(iter(remotes.values())) if len(remotes) == 1 else None)
    place = None if url is None else normalized(url)
    if place is None:
        return None
    digest = hashlib.sha256(place.encode("utf-8", "surrogateescape")).hexdigest()
    return f"{slug(place.rpartition('/')[2])}-{digest[:8]}"


def normalized(url: str) -> str | None:
    """Return ``host/path`` of a remote's URL: without scheme, user, password, port and ``.git``.

    None for a path of this machine, which means nothing on another one.
    """
    if "://" in url:
        found = _SCHEME.fullmatch(url)
        if found is None or found[1].lower() == "file":
            return None
        host, path = found[2].rpartition("@")[2], found[3]
        host, path = re.sub(r":\d*$", "", host), unquote(path.partition("?")[0].partition("#")[0])
    elif found := _SCP.fullmatch(url):
        host, path = found[1], found[2]
    else:
        return None
    parts = [part for part in path.split("/") if part]
    if parts:
        parts[-1] = parts[-1].removesuffix(".git")
    if not host or not parts or not parts[-1]:
        return None
    return "/".join([host.lower(), *parts])


def _remotes(text: str) -> dict[str, str]:
    """Return the URL of each remote in a configuration, by the remote's name; the first one counts."""
    found: dict[str, str] = {}
    for section, name, key, value in _entries(text):
        if section == "remote" and name and key == "url" and value:
            found.setdefault(name, value)
    return found


def _entries(text: str) -> Iterator[tuple[str, str, str, str]]:
    """Yield section, subsection, key and value of each entry of a configuration."""
    section = name = ""
    for line in _logical_lines(text):
        rest = line.strip(_BLANKS)
        if found := _SECTION.match(rest):
            section, name = found[1].lower(), re.sub(r"\\(.)", r"\1", found[2] or "")
            rest = rest[found.end() :].strip(_BLANKS)
        if rest and rest[0] not in "#;" and (entry := _ENTRY.fullmatch(rest)):
            yield section, name, entry[1].lower(), _value(entry[2] or "")


def _logical_lines(text: str) -> Iterator[str]:
    """Yield the lines of a configuration; one that ends with a backslash continues in the next."""
    pending = ""
    for line in text.replace("\r\n", "\n").split("\n"):
        if (len(line) - len(line.rstrip("\\"))) % 2:
            pending += line[:-1]
            continue
        yield pending + line
        pending = ""
    yield pending


def _value(text: str) -> str:
    """Return a value without quotes, escapes, and the comment behind it."""
    parts: list[str] = []
    quoted, end = False, 0
    for found in _VALUE.finditer(text):
        escape, mark, plain = found.groups()
        if escape is not None:
            parts.append(_ESCAPES.get(escape, escape))
        elif mark is not None and not quoted:
            break
        elif found[0] == '"':
            quoted = not quoted
            end = len(parts)
            continue
        else:
            parts.append(mark or plain)
        # Blanks at the end count only inside of quotes.
        if quoted or parts[-1] not in _BLANKS:
            end = len(parts)
    return "".join(parts[:end])
