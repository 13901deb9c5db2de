"""What decides which database an address leads to, for a person to confirm.

Besides the address itself, libpq takes settings from the environment and from service files. A
repository may set the environment of an agent, and so redirect an address that was confirmed
(``PGHOSTADDR``), or take TLS away (``PGSSLMODE``). So all of them are confirmed together.
"""

from __future__ import annotations

from psycopg import OperationalError, pq

from hindnote.core.database.address import parameters
from hindnote.core.errors import Refused

_LEFT_OUT = frozenset({"password", "sslpassword", "application_name", "fallback_application_name"})
"""Settings that are secret, or lead nowhere."""


def settings_of(url: str) -> dict[str, str]:
    """Return all settings of libpq with which an address is opened, without passwords.

    Raises:
        Refused: ``io_error``; libpq cannot read the address or its service file.
    """
    own = parameters(url)
    try:
        defaults = pq.Conninfo.get_defaults()
        asked = pq.Conninfo.parse(url.encode())
    except OperationalError:
        raise Refused(
            "io_error", "the settings of libpq cannot be read; look at PGSERVICE and its file"
        ) from None
    found = {
        option.keyword.decode(): option.val.decode(errors="replace")
        for option in (*defaults, *asked)
        if option.val
    }
    return {name: value for name, value in sorted((found | own).items()) if name not in _LEFT_OUT}
