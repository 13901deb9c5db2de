"""The list of notes homes that a person has confirmed: those inside projects, and databases.

The list is a JSON file in the person's own configuration, ``{"homes": ["/absolute/folder"],
"databases": [{"host": "db.example", "dbname": "team"}]}``. A database is listed with all settings
that decide where its address leads. The
person's home directory is taken from the system's user database instead of the environment,
because a repository may set ``HOME`` and ``XDG_CONFIG_HOME`` for an agent.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from hindnote.core.errors import HostFailure
from hindnote.core.fs.atomic import temporary
from hindnote.core.fs.handles import closing, open_below, open_file, open_root, read_all
from hindnote.core.places.person import person_home

NAME = "trusted-homes.json"
LIMIT = 256 * 1024
"""Maximum size of the list, in bytes."""

_FOLDERS = ("Library", "Application Support") if sys.platform == "darwin" else (".config",)


class UntrustworthyError(Exception):
    """The list cannot be trusted. The message says why and what to do."""


def trust_file() -> Path | None:
    """Return the path of the list; None for a user who is missing from the user database."""
    home = person_home()
    return None if home is None else home.joinpath(*_FOLDERS, "hindnote", NAME)


class Trusted(NamedTuple):
    """What a person has confirmed."""

    homes: frozenset[Path] = frozenset()
    """Folders, links resolved."""

    databases: tuple[Mapping[str, str], ...] = ()
    """Settings of databases."""


def trusted_homes() -> frozenset[Path]:
    """Return the confirmed folders, links resolved.

    Raises:
        UntrustworthyError: As ``trusted``.
    """
    return trusted().homes


def trusted() -> Trusted:
    """Return what the person has confirmed.

    Raises:
        UntrustworthyError: The list belongs to another user, is writable by others, is not a
            regular file, or is damaged.
    """
    file = trust_file()
    if file is None:
        return Trusted()
    repair = f"{file} is not used: %s; remove it, and confirm again what you trust"
    try:
        with closing(open_root(file.parent)) as folder:
            handle, found = open_file(folder, file.name)
        with closing(handle):
            if found.st_uid != os.getuid() or found.st_mode & 0o022:
                raise UntrustworthyError(repair % "others own it, or may write it")
            if found.st_size > LIMIT:
                raise UntrustworthyError(repair % f"it is larger than {LIMIT:,} bytes")
            listed = json.loads(read_all(handle, found.st_size, LIMIT))
        databases = tuple(dict(one) for one in listed.get("databases", ()))
        return Trusted(frozenset(Path(home) for home in listed["homes"]), databases)
    except FileNotFoundError:
        return Trusted()
    except OSError as error:
        raise UntrustworthyError(repair % f"it cannot be read ({error.strerror})") from None
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise UntrustworthyError(repair % "it is damaged") from None


def set_trusted(homes: frozenset[Path], databases: Iterable[Mapping[str, str]] = ()) -> Path:
    """Replace the list with a file of mode 0600, and return its path.

    Raises:
        HostFailure: The user is missing from the user database.
        OSError: It cannot be written.
    """
    home, file = person_home(), trust_file()
    if home is None or file is None:
        raise HostFailure("this user is not in the system's user database, so nothing can be kept")
    listed = {"homes": sorted(map(str, homes)), "databases": [dict(one) for one in databases]}
    data = json.dumps(listed, indent=2, ensure_ascii=True) + "\n"
    # The configuration folder may be a link, which the person made.
    above = home.joinpath(*_FOLDERS)
    above.mkdir(parents=True, exist_ok=True)
    with (
        closing(open_root(above)) as root,
        closing(open_below(root, ["hindnote"], make=True)) as folder,
        temporary(folder, data.encode(), mode=0o600) as made,
    ):
        os.replace(made, file.name, src_dir_fd=folder, dst_dir_fd=folder)
    return file
