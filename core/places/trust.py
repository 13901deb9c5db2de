"""The list of notes homes inside projects that a person has confirmed.

The list is a JSON file in the person's own configuration, ``{"homes": ["/absolute/folder"]}``. The
person's home directory is taken from the system's user database instead of the environment,
because a repository may set ``HOME`` and ``XDG_CONFIG_HOME`` for an agent.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

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


def trusted_homes() -> frozenset[Path]:
    """Return the confirmed folders, links resolved.

    Raises:
        UntrustworthyError: The list belongs to another user, is writable by others, is not a
            regular file, or is damaged.
    """
    file = trust_file()
    if file is None:
        return frozenset()
    repair = f"{file} is not used: %s; remove it, and confirm again what you trust"
    try:
        with closing(open_root(file.parent)) as folder:
            handle, found = open_file(folder, file.name)
        with closing(handle):
            if found.st_uid != os.getuid() or found.st_mode & 0o022:
                raise UntrustworthyError(repair % "others own it, or may write it")
            if found.st_size > LIMIT:
                raise UntrustworthyError(repair % f"it is larger than {LIMIT:,} bytes")
            homes = json.loads(read_all(handle, found.st_size, LIMIT))["homes"]
        return frozenset(Path(home) for home in homes)
    except FileNotFoundError:
        return frozenset()
    except OSError as error:
        raise UntrustworthyError(repair % f"it cannot be read ({error.strerror})") from None
    except (ValueError, TypeError, KeyError, RecursionError):
        raise UntrustworthyError(repair % "it is damaged") from None


def set_trusted(homes: frozenset[Path]) -> Path:
    """Replace the list with a file of mode 0600, and return its path.

    Raises:
        HostFailure: The user is missing from the user database.
        OSError: It cannot be written.
    """
    home, file = person_home(), trust_file()
    if home is None or file is None:
        raise HostFailure("this user is not in the system's user database, so nothing can be kept")
    data = json.dumps({"homes": sorted(map(str, homes))}, indent=2, ensure_ascii=True) + "\n"
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
