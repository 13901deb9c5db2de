"""Make names safe for paths: slugs of agents, models and hosts, and session ids."""

from __future__ import annotations

import re
from urllib.parse import quote

SLUG_LIMIT = 64
"""Maximum length of a slug, in characters."""

RESERVED_HOSTS = frozenset({"human", "project", "agents", "models", "session"})
"""Host slugs that would collide with a folder of the notes home."""

_UNSAFE = re.compile(r"[^a-z0-9_.-]")
_SLUG = re.compile(r"[a-z0-9][a-z0-9_.-]{0,63}")


def slug(name: str) -> str:
    """Return ``name`` as a slug: lower-case ASCII, never empty, at most 64 characters."""
    made = _UNSAFE.sub("-", name.lower()).lstrip("-_.")[:SLUG_LIMIT]
    return made or "x"


def is_slug(name: str) -> bool:
    """Return whether ``name`` is already a valid slug."""
    return _SLUG.fullmatch(name) is not None


def encode_session_id(session_id: str) -> str:
    """Return a session id as one path segment, percent-encoding all but ``A-Za-z0-9._-``.

    The segment never starts with a dot.
    """
    encoded = quote(session_id, safe="").replace("~", "%7E")
    return f"%2E{encoded[1:]}" if encoded.startswith(".") else encoded
