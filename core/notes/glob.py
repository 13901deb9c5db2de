"""Globs over whole addresses, and the homes that a glob can match in."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from hindnote.core.errors import Refused
from hindnote.core.notes.address import HEADS, SUFFIX
from hindnote.core.text.messages import quote
from hindnote.core.text.slug import is_slug

if TYPE_CHECKING:
    from hindnote.core.notes.address import Home, Homes

LIMIT = 512
"""Maximum length of a glob in UTF-8 bytes."""

DEEP_LIMIT = 3
"""Maximum number of ``**`` in a glob; each multiplies the ways to match."""

_ANY = "[^/]"
_STAR = "[^/]*"
_DEEP = ".+"
"""The regex parts that ``?``, ``*`` and ``**`` compile to; literals never compile to these."""

_WILD = re.compile(r"[*?\[\\]")

Slugs = Callable[[Literal["agents", "models"]], Iterable[str]]


class Scope(Struct, frozen=True):
    """The homes to list, and a filter for their notes."""

    homes: tuple[Home, ...]
    _accepts: Callable[[str], object] | None
    _forms: dict[str, tuple[str, ...]]

    def holds(self, home: Home, path: str) -> bool:
        """Return whether the scope includes a note; ``path`` is its path within the home."""
        if self._accepts is None:
            return True
        short = path.removesuffix(SUFFIX)
        return any(
            self._accepts(prefix + path) or self._accepts(prefix + short)
            for prefix in self._forms[home.prefix]
        )


def scope(homes: Homes, glob: str | None, slugs: Slugs) -> Scope:
    """Return the scope of a call.

    Without a glob, and for a glob that starts with a wildcard, these are the default homes. Homes
    of other agents and models are included only when the glob names them.

    Args:
        homes: The homes of the identity.
        glob: The glob as given; None for the default homes.
        slugs: Lists the agents or the models that have a home.

    Raises:
        Refused: ``invalid_glob``; ``no_current_session`` when only session notes
            could match and there is no session; ``invalid_cwd`` when only the project's
            could and there is no project.
    """
    if glob is None:
        return Scope(tuple(homes.default()), None, {})
    pattern = unicodedata.normalize("NFC", glob)
    accepts = _compiled(pattern)
    segments = pattern.split("/")
    found = tuple(_reachable(homes, segments, slugs))
    return Scope(found, accepts, {home.prefix: _forms(home) for home in found})


def takes_default(glob: str | None) -> bool:
    """Return whether a glob covers the default homes instead of naming one."""
    return glob is None or bool(_WILD.search(glob.partition("/")[0]))


def _forms(home: Home) -> tuple[str, ...]:
    """Return the address prefixes of a home: its own, and the long form of a short one."""
    long_form = f"@{home.kind}/{home.folder[1]}/" if home.kind in {"agents", "models"} else ""
    return (home.prefix, long_form) if long_form not in {"", home.prefix} else (home.prefix,)


def _reachable(homes: Homes, segments: list[str], slugs: Slugs) -> list[Home]:
    head = segments[0]
    if _WILD.search(head):
        # An empty result means that only session notes could match; this refuses without a
        # session.
        return [h for h in homes.default() if _may_reach(segments, h)] or homes.notebooks
    if not head.startswith("@"):
        return homes.notebooks
    if head == "@agents" or head == "@models":
        kind: Literal["agents", "models"] = "agents" if head == "@agents" else "models"
        names = segments[1:2] if not _WILD.search("".join(segments[1:2])) else slugs(kind)
        return [homes.named(kind, name) for name in names if is_slug(name)]
    if head == "@project":
        return [homes.project]
    found = [home for home in homes.default() if home.name == head]
    if not found:
        raise Refused(
            "invalid_glob",
            f"glob {quote('/'.join(segments))}: {quote(head)} is no head; the heads are "
            f"{' '.join(HEADS)}",
        )
    return found


def _may_reach(segments: list[str], home: Home) -> bool:
    """Return whether a glob that starts with a wildcard may match in a home."""
    if segments[0] == "**" or not home.prefix:
        return True
    return len(segments) > 1 and segments[0].startswith(("*", "?", "[", "\\", "@"))


def _compiled(glob: str) -> Callable[[str], object]:
    problem = _problem(glob)
    if problem is None:
        from pathspec.patterns.gitignore import GitIgnorePatternError
        from pathspec.patterns.gitignore.basic import GitIgnoreBasicPattern

        blanks = len(glob) - len(glob.rstrip(" "))
        # The leading slash anchors the pattern, and "!" and "#" lose their special meaning after
        # it.
        pattern = "/" + glob[: len(glob) - blanks] + "\\ " * blanks
        try:
            regex = GitIgnoreBasicPattern(pattern).regex
        except GitIgnorePatternError:
            regex = None
        if regex is not None and regex.pattern.count(_DEEP) <= DEEP_LIMIT:
            regex = re.compile(_unambiguous(regex.pattern))
            # Without a final "**" the pattern would also match everything below its match.
            below = glob == "**" or glob.endswith("/**")
            return regex.match if below else regex.fullmatch
        deep = regex is not None
        problem = f"it has more than {DEEP_LIMIT} **" if deep else "it is no valid pattern"
    raise Refused(
        "invalid_glob",
        f"glob {quote(glob)}: {problem}; give a pattern like @project/** or plans/*.md",
    )


def _unambiguous(regex: str) -> str:
    """Return the regex with each star made non-greedy if another star follows it in the segment.

    Whatever more it could match, the following star matches as well. Trying all ways to divide a
    long name among many stars would take forever.
    """
    first, *others = regex.split(_STAR)
    made = [first]
    for index, piece in enumerate(others, start=1):
        if index == len(others) or "/" in piece.replace(_ANY, ""):
            made.append(_STAR + piece)
        elif piece:
            made.append(f"(?>{_STAR}?{piece})")
    return "".join(made)


def _problem(glob: str) -> str | None:
    if not glob:
        return "it is empty; leave it out to see all"
    if glob.startswith("/") or glob.endswith("/"):
        return "an address neither starts nor ends with a slash"
    if len(glob.encode()) > LIMIT:
        return f"it is longer than {LIMIT} UTF-8 bytes"
    return None
