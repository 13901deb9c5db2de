"""The person who uses this account: their home directory, which no environment can move.

A repository may set ``HOME`` or ``XDG_CONFIG_HOME`` for an agent, where a host lets it. What
decides about trust asks the system's user database instead.
"""

from __future__ import annotations

import os
import pwd
from pathlib import Path


def person_home() -> Path | None:
    """Return the home directory that the user database has; None when it has no such user."""
    try:
        return Path(pwd.getpwuid(os.getuid()).pw_dir)
    except KeyError:
        return None
