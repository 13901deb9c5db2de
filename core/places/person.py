"""The home directory of the person who uses this account, independent of the environment.

A repository may set ``HOME`` or ``XDG_CONFIG_HOME`` for an agent, if a host allows it. So
decisions about trust use the system's user database instead.
"""

from __future__ import annotations

import os
import pwd
from pathlib import Path


def person_home() -> Path | None:
    """Return the user's home directory from the user database; None when it has no such user."""
    try:
        return Path(pwd.getpwuid(os.getuid()).pw_dir)
    except KeyError:
        return None
