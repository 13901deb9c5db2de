"""Validate the answers of plugins and copy them into plain objects of the core's own classes.

A plugin may return anything: a ``Path`` whose ``/`` is overridden, a model whose fields change
after they were checked, a text with its own ``==``. Each function here reads an answer once and
builds a new object from exact built-in and core classes; after that no method of a plugin's object
runs. The one exception is a projection, which is read on demand (``projected.Checked``); each
value read from it is checked here too.

Each function raises ``Malformed`` for an answer that cannot be copied. Callers run them inside
``guard.answering``, since reading an answer can run the plugin's code.
"""

from __future__ import annotations

import os
from functools import lru_cache
from math import isfinite
from operator import attrgetter
from pathlib import Path, PurePath
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from hindnote.core.errors import Malformed, class_name
from hindnote.core.plugins.models import Ancestor, Decoration, HostCall, HostIdentity, SessionEntry
from hindnote.core.text import clean

TEXT_LIMIT = 65_536
"""Maximum length of an id, a name or another short text, in code points."""

ANCESTORS_LIMIT = 100
"""Maximum number of ancestors of a fork; further ones are ignored."""

KNOWN_PATHS = 16_384
"""Maximum number of cached paths of session files."""

PREFIX_LIMIT = 200
"""Maximum length of ``tool_prefix``, in code points."""

_FIELDS: dict[type[BaseModel], tuple[str, ...]] = {
    kind: tuple(kind.model_fields)
    for kind in (HostCall, HostIdentity, Decoration, SessionEntry, Ancestor)
}
_READ = {kind: attrgetter(*names) for kind, names in _FIELDS.items()}
_ENTRY_TEXTS = ("host", "id", "started", "cwd", "parent", "name", "prompt")

M = TypeVar("M", bound=BaseModel)
T = TypeVar("T")


def exactly(value: object, kind: type[T], what: str = "") -> T:
    """Return ``value`` if its class is exactly ``kind``; a subclass could override anything."""
    if type(value) is kind:
        return value
    found = "None" if value is None else f"a {class_name(type(value))!r}"
    subclass = issubclass(type(value), kind)
    way_out = "; return the class itself, not a subclass" if subclass else ""
    raise Malformed(f"{f'{what}, ' if what else ''}{found}, not a {kind.__name__}{way_out}")


def plain_text(value: object, what: str, limit: int = TEXT_LIMIT) -> str:
    """Return a text as a plain ``str`` without lone surrogates, checking its length."""
    if type(value) is str and len(value) <= limit and value.isascii():
        return value
    if type(value) is not str:
        if not issubclass(type(value), str):
            raise Malformed(f"{what}, a {class_name(type(value))!r}, not a str")
        # For example an enum member. Uses the method of str itself, not one of the subclass.
        value = str.__str__(value)
    if len(value) > limit:
        raise Malformed(f"{what} of {len(value):,} characters; at most {limit:,} are taken")
    return clean(value)


def plain_optional(value: object, what: str) -> str | None:
    """Return a text as ``plain_text`` does, or None for None."""
    return None if value is None else plain_text(value, what)


def plain_path(value: object, what: str) -> Path:
    """Return a new ``Path`` from the text of a path."""
    return Path(_path_text(value, what))


# Constructing a path takes longer than all the rest of an entry, and the catalogue is read again
# with every call. Only the core uses these cached objects; a plugin gets others.
_known_path = lru_cache(KNOWN_PATHS)(Path)


def _path_text(value: object, what: str) -> str:
    if not issubclass(type(value), PurePath):
        found = "None" if value is None else f"a {class_name(type(value))!r}"
        raise Malformed(f"{what}, {found}, not a Path")
    told = os.fspath(value)  # type: ignore[call-overload]
    if not issubclass(type(told), str):
        raise Malformed(f"{what}, a path of {class_name(type(told))!r}, not of str")
    # Not cleaned: a lone surrogate represents a byte of a file name that is not UTF-8.
    return str.__str__(told)


def plain_call(call: object) -> HostCall:
    """Return a copy of a call that a host's entry script made.

    ``live`` and ``extra`` belong to the host and are passed on as they are; the core reads
    neither.
    """
    if not issubclass(type(call), HostCall):
        raise Malformed(f"a {class_name(type(call))!r}, not a HostCall")
    values = _values(call, HostCall)
    values["cwd"] = plain_path(values["cwd"], "cwd")
    for name in ("session_file", "config_dir"):
        if values[name] is not None:
            values[name] = plain_path(values[name], name)
    values["host"] = plain_text(values["host"], "host")
    for name in ("session_id", "leaf_id", "call_id", "agent_id", "model", "agent"):
        values[name] = plain_optional(values[name], name)
    values["extra"] = dict(values["extra"])
    # Every field is checked above; validating again would call the properties of ``live``.
    return HostCall.model_construct(**values)


def plain_identity(answer: object, slug: str) -> HostIdentity:
    """Return a copy of the identity, with the slug under which the core has loaded the host."""
    values = _values(exactly(answer, HostIdentity), HostIdentity)
    host = plain_text(values["host"], "host")
    if host != slug:
        raise Malformed(f"host {host!r}, not {slug!r}, its own")
    session = values["session_id"]
    values["session_id"] = plain_optional(session, "session_id")
    if session is not None and (not session or values["session_id"] != session):
        raise Malformed(
            f"session_id {session!r}; an id is not empty and holds no lone surrogate, and None "
            "says that there is none"
        )
    for name in ("agent", "model"):
        values[name] = plain_text(values[name], name)
    prefix = values["tool_prefix"] = plain_text(values["tool_prefix"], "tool_prefix", PREFIX_LIMIT)
    if not prefix.isprintable():
        raise Malformed(f"tool_prefix {prefix!r}, which holds characters that cannot be printed")
    values["has_unnamed_ancestors"] = values["has_unnamed_ancestors"] is True
    values["ancestors"] = _ancestors(values["ancestors"], values["session_id"])
    return _made(HostIdentity, values | {"host": slug})


def _ancestors(answer: object, session_id: object) -> tuple[Ancestor, ...]:
    """Return the sessions that a fork descends from, without duplicates and the fork itself."""
    found: dict[str, Ancestor] = {}
    for item in exactly(answer, tuple, "ancestors")[:ANCESTORS_LIMIT]:
        values = _values(exactly(item, Ancestor, "ancestors"), Ancestor)
        id_ = plain_text(values["session_id"], "an ancestor's session_id")
        forked = values["forked"]
        if forked is not None and not (type(forked) in (int, float) and isfinite(forked)):
            raise Malformed(f"an ancestor that was forked at {forked!r}, not at seconds")
        if id_ and id_ != session_id:
            found.setdefault(id_, Ancestor(session_id=id_, forked=forked))
    return tuple(found.values())


def plain_decoration(answer: object) -> Decoration:
    """Return a copy of a decoration."""
    values = _values(exactly(answer, Decoration), Decoration)
    return _made(Decoration, {name: plain_text(value, name) for name, value in values.items()})


def plain_entry(answer: object, slug: str, *, for_plugin: bool = False) -> SessionEntry:
    """Return a copy of one session of a catalogue, with the slug of the plugin that lists it.

    Args:
        answer: The entry.
        slug: The plugin's slug.
        for_plugin: Whether the copy is for a plugin, which must not get our cached paths.
    """
    # Runs for each session of a catalogue, and there may be thousands.
    values = _values(exactly(answer, SessionEntry), SessionEntry)
    for name in _ENTRY_TEXTS:
        value = values[name]
        if value is not None and not (type(value) is str and value.isascii() and len(value) < 999):
            values[name] = plain_text(value, name)
    if values["host"] != slug:
        raise Malformed(f"a session of {values['host']!r}, not of {slug!r}, its own")
    if not values["id"]:
        raise Malformed("a session without an id")
    values["host"] = slug
    path = _path_text(values["file"], "file")
    values["file"] = Path(path) if for_plugin else _known_path(path)
    return _made(SessionEntry, values)


def _values(answer: object, kind: type[BaseModel]) -> dict[str, Any]:
    """Return a model's fields, reading each one once."""
    try:
        return dict(zip(_FIELDS[kind], _READ[kind](answer), strict=True))
    except AttributeError as error:
        raise Malformed(f"a {kind.__name__} without one of its fields") from error


def _made(kind: type[M], values: dict[str, Any]) -> M:
    try:
        return kind(**values)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise Malformed(f"a {kind.__name__} whose {where} is wrong: {first['msg']}") from None
