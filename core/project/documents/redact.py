"""Detect values that must not be shown as samples or facets: credentials and absolute paths."""

from __future__ import annotations

import re

_SECRET_KEY = re.compile(
    r"pass(?:word|wd|phrase)?$|secret|token|credential|api[_-]?key|private[_-]?key|auth$|cookie"
    r"|bearer|session[_-]?id",
    re.IGNORECASE,
)
_SECRET_VALUE = re.compile(
    r"""
      -----BEGIN
    | \b(?:sk|pk|rk|ghp|gho|ghu|ghs|ghr|glpat|xox[a-z]|npm|pypi|AKIA|ASIA|AIza|eyJ|SG|hf)[-_.A-Za-z0-9]{8,}
    | \b(?:bearer|basic)\s+\S{6,}
    | (?:password|passwd|secret|token|api[_-]?key)\s*[:=]\s*\S
    | ://[^/\s:@]+:[^/\s@]+@
    | \b[0-9a-fA-F]{32,}\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
_LONG_WORD = re.compile(r"[A-Za-z0-9+/_=-]{20,}")
_ABSOLUTE = re.compile(
    r"""(?:^|[\s"'`(\[{<=:,;|])(?:~?/[^\s/]|[A-Za-z]:[\\/]|\\\\[^\s\\])|file:/"""
)
_WEB = re.compile(r"\bhttps?://[^\s]+", re.IGNORECASE)


def is_safe(key: str, value: str) -> bool:
    """Return whether a value of a frontmatter key may be shown."""
    if _SECRET_KEY.search(key) or _SECRET_VALUE.search(value):
        return False
    if _ABSOLUTE.search(_WEB.sub("", value) if "://" in value else value):
        return False
    return not any(_random(word) for word in _LONG_WORD.findall(value))


def _random(word: str) -> bool:
    """Return whether a long word mixes letters and digits like a generated key."""
    digits = sum(char.isdigit() for char in word)
    return digits >= 4 and any(char.isalpha() for char in word)
