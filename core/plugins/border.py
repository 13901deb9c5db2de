"""The border: what a plugin answers becomes plain data of the core's own classes, once, here.

A plugin may answer with anything: a ``Path`` whose ``/`` leads elsewhere, a model whose
fields change after they were checked, a text whose ``==`` is its own. Each function here
reads an answer once and builds a new object of exact built-in and core classes from it; behind
the border no method of a plugin's object runs. The one exception is a projection, which is
asked on demand (``projection.Checked``), and whose every answer comes through here too.

Each function raises ``Malformed`` for what cannot be rebuilt. Callers run them inside
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
"""Code points of an id, a name or another short text, at most."""

ANCESTORS_LIMIT = 100
"""Sessions that a fork descends from, at most; further ones are left out."""

KNOWN_PATHS = 16_384
"""Paths of session files that are remembered, at most."""

PREFIX_LIMIT = 200
"""Code points of ``tool_prefix``, at most."""

_FIELDS: dict[type[BaseModel], tuple[str, ...]] = {
    kind: tuple(kind.model_fields)
    for kind in (HostCall, HostIdentity, Decoration, SessionEntry, Ancestor)
}
_READ = {kind: attrgetter(*names) for kind, names in _FIELDS.items()}
_ENTRY_TEXTS = ("host", "id", "started", "cwd", "parent", "name", "prompt")

M = TypeVar("M", bound=BaseModel)
T = TypeVar("T")


def exactly(value: object, kind: type[T], what: str = "") -> T:
    """Return ``value`` when its class is ``kind`` itself; a subclass could override anything."""
    if type(value) is kind:
        return value
    found = "None" if value is None else f"a {class_name(type(value))!r}"
    subclass = issubclass(type(value), kind)
    way_out = "; return the class itself, not a subclass" if subclass else ""
    raise Malformed(f"{f'{what}, ' if what else ''}{found}, not a {kind.__name__}{way_out}")


def plain_text(value: object, what: str, limit: int = TEXT_LIMIT) -> str:
    """Return a text as a plain ``str`` without lone surrogates, within a limit."""
    if type(value) is str and len(value) <= limit and value.isascii():
        return value
    if type(value) is not str:
        if not issubclass(type(value), str):
            raise Malformed(f"{what}, a {class_name(type(value))!r}, not a str")
        # An enumeration's member, say. The method of str itself, not one of the subclass.
        value = str.__str__(value)
    if len(value) > limit:
        raise Malformed(f"{what} of {len(value):,} characters; at most {limit:,} are taken")
    return clean(value)


def plain_optional(value: object, what: str) -> str | None:
    """Return a text as ``plain_text`` does; None stays None."""
    return None if value is None else plain_text(value, what)


def plain_path(value: object, what: str) -> Path:
    """Return a path of the core's own, from the text of one."""
    return Path(_path_text(value, what))


# Taking a path apart takes longer than all the rest of an entry, and a catalogue is asked for
# again with every call. These objects stay with the core; a plugin gets others.
_known_path = lru_cache(KNOWN_PATHS)(Path)


def _path_text(value: object, what: str) -> str:
    if not issubclass(type(value), PurePath):
        found = "None" if value is None else f"a {class_name(type(value))!r}"
        raise Malformed(f"{what}, {found}, not a Path")
    told = os.fspath(value)  # type: ignore[call-overload]
    if not issubclass(type(told), str):
        raise Malformed(f"{what}, a path of {class_name(type(told))!r}, not of str")
    # Not cleaned: a lone surrogate stands for a byte of a name that is not UTF-8.
    return str.__str__(told)


def plain_call(call: object) -> HostCall:
    """Return a call of the core's own, equal to one that a host's entry script made.

    ``live`` and ``extra`` are the host's own and are passed on; the core reads neither.
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
    # Every field is checked; validating would call the properties of ``live``.
    return HostCall.model_construct(**values)


def plain_identity(answer: object, slug: str) -> HostIdentity:
    """Return who is asking, with the slug under which the core knows the host."""
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
    """Return the sessions that a fork descends from, each once and never the fork itself."""
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
    """Return a host's own text around a rendering."""
    values = _values(exactly(answer, Decoration), Decoration)
    return _made(Decoration, {name: plain_text(value, name) for name, value in values.items()})


def plain_entry(answer: object, slug: str, *, for_plugin: bool = False) -> SessionEntry:
    """Return one session of a catalogue, under the slug of the plugin that lists it.

    Args:
        answer: The entry.
        slug: The plugin's slug.
        for_plugin: Whether a plugin gets it, which could change what it is made of.
    """
    # Asked for each session of a catalogue, of which there may be thousands.
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
    """Return a model's fields, each read once."""
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
