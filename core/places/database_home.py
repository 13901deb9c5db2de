"""A notes home that is a database: its address, which is never shown."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from hindnote.core.errors import Refused
from hindnote.core.text.messages import quote

SCHEMES = ("postgresql", "postgres")
"""The schemes of an address, as libpq takes them (PostgreSQL 15)."""


class DatabaseHome(NamedTuple):
    """A notes home that is a database.

    Its text is the name of the database and its host, because the address may contain a password.
    """

    url: str

    def __str__(self) -> str:
        """Return the name of the database and of its host."""
        try:
            parts = urlsplit(self.url)
            host = parts.hostname
        except ValueError:
            return "PostgreSQL database"
        name = parts.path.strip("/")
        return " ".join(
            [
                "PostgreSQL database",
                *([quote(name)] if name else []),
                *(["on", host] if host else []),
            ]
        )

    def __repr__(self) -> str:
        """Return the text without the address."""
        return f"<{self}>"


def is_address(text: str) -> bool:
    """Return whether a text is the address of a database."""
    return text.partition("://")[0].lower() in SCHEMES and "://" in text


def patience(home: Path | DatabaseHome, seconds: float) -> AbstractContextManager[None]:
    """Return a context in which a database is waited for no longer than this in all."""
    if isinstance(home, Path):
        return nullcontext()
    require_client()
    from hindnote.core.database.opening import waiting_at_most

    return waiting_at_most(seconds)


def require_client() -> None:
    """Refuse a database home when the client for it is not installed.

    Raises:
        Refused: ``io_error``.
    """
    try:
        import psycopg  # noqa: F401
    except ImportError:
        raise Refused(
            "io_error",
            "a notes home on PostgreSQL needs psycopg, which is not installed; install it with "
            "pip install 'hindnote[postgres]'",
        ) from None
