"""Check that environment variables with an installation folder contain absolute paths."""

from __future__ import annotations

import os
from pathlib import Path

from hindnote.core.errors import Refused
from hindnote.core.places.database_home import is_address, require_client
from hindnote.core.places.home import HOME_VARIABLE, notes_home
from hindnote.core.system.process import process_directory


class NoWholePath(Exception):
    """A variable contains a relative path, or an address that cannot be recorded. The message says which, and what to do."""


def check_whole_paths(*names: str, tilde: bool) -> None:
    """Refuse variables whose folder would depend on the current directory.

    A shell expands ``~`` only where it is not quoted; a literal one would be a folder with that
    name.

    Args:
        *names: The variables; unset and empty ones are accepted.
        tilde: Whether the program that reads them expands ``~`` and ``~/`` itself.

    Raises:
        NoWholePath: One of them contains a relative path.
    """
    for name in names:
        value = os.environ.get(name)
        if not value or Path(value).is_absolute() or is_address(value):
            continue
        if value == "~" or value.startswith("~/"):
            if tilde:
                continue
            meant = Path(value).expanduser()
            told = f"holds a literal ~, which nothing replaces there; set it to {meant}"
        else:
            told = "is no whole path and means another folder in each directory; set it to one"
        shown = "an address" if ":/" in value else repr(value)
        raise NoWholePath(f"{name} is {shown}, which {told}, or unset it")


def home_to_record() -> str | None:
    """Return the notes home from the person's environment, for a host that does not pass it on.

    The host's configuration names it then, so it is recorded only as far as that is safe.

    Raises:
        NoWholePath: It is a database that nobody has confirmed, or whose address has a password.
    """
    named = os.environ.get(HOME_VARIABLE)
    if not named or not is_address(named):
        return str(Path(named).expanduser()) if named else None
    try:
        notes_home().admit(process_directory())
        require_client()
        from hindnote.core.database.address import parameters

        secret = "password" in parameters(named)
    except Refused as refused:
        raise NoWholePath(refused.refusal.message) from None
    if secret:
        raise NoWholePath(
            f"{HOME_VARIABLE} holds a password, which the host's configuration would keep; leave "
            "it out of the address and put it where libpq looks, such as ~/.pgpass"
        )
    return named
