"""Apply a contract model's marks to JSON-ready data: check, clip, cut, drop, count.

A ``Part`` is one piece of an output (its data, error or effects) while it is prepared. All limits
come from the annotations of the models, so each is defined once, at its field.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from types import UnionType
from typing import Annotated, Any, TypeAlias, Union, get_args, get_origin

from pydantic import BaseModel

from hindnote.core.project.contract.bounds import (
    MAX_PATH_CHARS,
    Descriptive,
    Identity,
    Rows,
    clip_utf16,
)
from hindnote.core.text import clean

EACH = "*"
"""A step in a location that means every item of a list."""

Location: TypeAlias = tuple[str, ...]
Mark: TypeAlias = Identity | Descriptive | Rows


@cache
def marks_of(model: type[BaseModel]) -> tuple[tuple[Location, Mark], ...]:
    """Return every marked location in a model, outer ones before those inside them."""
    found: list[tuple[Location, Mark]] = []
    for name, field in model.model_fields.items():
        found.extend(_marks(field.annotation, tuple(field.metadata), (name,)))
    return tuple(found)


def _marks(
    annotation: Any, metadata: tuple[Any, ...], where: Location
) -> Iterator[tuple[Location, Mark]]:
    for mark in metadata:
        if isinstance(mark, Identity | Descriptive | Rows):
            yield where, mark
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        yield from _marks(arguments[0], arguments[1:], where)
    elif origin in (Union, UnionType):
        for choice in arguments:
            yield from _marks(choice, (), where)
    elif origin is list:
        yield from _marks(arguments[0], (), (*where, EACH))
    elif isinstance(annotation, type) and issubclass(annotation, BaseModel):
        for inner, mark in marks_of(annotation):
            yield (*where, *inner), mark


def label(where: Location) -> str:
    """Return a location as the contract prints it, without list positions."""
    return ".".join(step for step in where if step != EACH)


def json_size(value: Any) -> int:
    """Return the size of a value's compact JSON in UTF-8 bytes."""
    return len(compact(value).encode("utf-8", "surrogatepass"))


def compact(value: Any) -> str:
    """Return a value of the contract formatted as ``JSON.stringify`` would."""
    # Facts are trees, so the check for circular references is skipped.
    text = json.dumps(value, ensure_ascii=False, check_circular=False, separators=(",", ":"))
    return _SCORE.sub(_plain, text)


def _plain(match: re.Match[str]) -> str:
    """Return a score as JavaScript prints it: without an exponent from a millionth on."""
    return match[1] + f"{Decimal(match[2]):f}".removesuffix(".0")


_SCORE = re.compile(r'("score":)([0-9.]+(?:e-0[56])?)(?=[,}])')
"""The only fraction in the contract, rounded to millionths. Quotes inside a text are escaped."""


@dataclass(frozen=True, slots=True)
class IdentityFault:
    """An identity that cannot be returned unchanged."""

    where: str
    reason: str
    limit: int
    value: str
    path: str | None
    """Path of the document that contains it, if that path can be returned; else None."""


class Part:
    """A copy of one piece of an output, which is brought within its limits step by step.

    Data of a wrong type is skipped here; the schema check detects it.

    Args:
        model: The contract's model of this piece.
        facts: JSON-ready data without limits applied.
        totals: Sizes of top-level collections of which ``facts`` contains only a part.
    """

    def __init__(
        self, model: type[BaseModel], facts: Mapping[str, Any], totals: Mapping[str, int]
    ) -> None:
        self.value: dict[str, Any] = _copied(dict(facts))
        self._marks = marks_of(model)
        self._totals = totals
        self._sizes: dict[int, int] = {}
        self._clipped: set[tuple[int, str | int]] = set()
        # Keeps dropped objects alive, so that no id() is reused.
        self._dropped: list[Any] = []

    def omit_unfit(self) -> None:
        """Remove items with an identity that cannot be returned, where the contract allows it."""
        for where, mark, rows in self._collections():
            if not mark.omit_unfit:
                continue
            inside = (*where, EACH)
            identities = [
                ((EACH, *place[len(inside) :]), identity)
                for place, identity in self._marks
                if isinstance(identity, Identity) and place[: len(inside)] == inside
            ]
            fit = [row for row in rows if _fault([row], identities) is None]
            if len(fit) < len(rows):
                self._sizes[id(rows)] = len(rows)
                self._dropped.extend(rows)
                rows[:] = fit

    def identity_fault(self) -> IdentityFault | None:
        """Return the first identity that exceeds its limit or has a wrong form."""
        identities = [(where, mark) for where, mark in self._marks if isinstance(mark, Identity)]
        return _fault(self.value, identities)

    def clip(self) -> None:
        """Clip descriptive texts at their limits."""
        for where, mark in self._marks:
            if not isinstance(mark, Descriptive):
                continue
            for holder, key in _places(self.value, where):
                value = holder[key]
                if not isinstance(value, str):
                    continue
                holder[key] = clip_utf16(clean(value), mark.limit)
                if len(holder[key]) != len(value):
                    self._clipped.add((id(holder), key))

    def cut(self) -> bool:
        """Cut collections at their limits; return whether any was cut."""
        shortened = False
        for _, mark, rows in self._collections():
            self._sizes.setdefault(id(rows), len(rows))
            shortened = shortened or len(rows) > mark.limit
            self._dropped.extend(rows[mark.limit :])
            del rows[mark.limit :]
        return shortened

    def drop(self, excess: int) -> bool:
        """Drop rows worth at least ``excess`` bytes from the ends; False when none are left.

        Rows are dropped from the largest top-level collection first. The last row of a collection
        loses its nested rows before it is dropped itself.
        """
        for lists in (self._lists(nested=False, keep=1), self._lists(nested=True, keep=0)):
            if self._drop_from(lists, excess):
                return True
        return self._drop_from(self._lists(nested=False, keep=0), excess)

    def counts(self) -> dict[str, dict[str, int]]:
        """Return total, returned and omitted rows of each collection, in its current state."""
        found = {
            mark.name: {"total": 0, "returned": 0, "omitted": 0}
            for _, mark in self._marks
            if isinstance(mark, Rows)
        }
        for where, mark, rows in self._collections():
            count = found[mark.name]
            total = self._sizes.get(id(rows), len(rows))
            if EACH not in where:
                total = max(total, self._totals.get(mark.name, 0))
            count["total"] += total
            count["returned"] += len(rows)
            count["omitted"] += total - len(rows)
        return found

    def clipped(self) -> Counter[str]:
        """Return the number of clipped texts of each kind, among those that remain."""
        found: Counter[str] = Counter()
        for where, mark in self._marks if self._clipped else ():
            if isinstance(mark, Descriptive):
                hits = sum((id(h), k) in self._clipped for h, k in _places(self.value, where))
                if hits:
                    found[label(where)] += hits
        return found

    def _collections(self) -> Iterator[tuple[Location, Rows, list[Any]]]:
        for where, mark in self._marks:
            if isinstance(mark, Rows):
                for holder, key in _places(self.value, where):
                    if isinstance(holder[key], list):
                        yield where, mark, holder[key]

    def _lists(self, *, nested: bool, keep: int) -> list[tuple[list[Any], int]]:
        return [
            (rows, keep)
            for where, _, rows in self._collections()
            if (EACH in where) == nested and len(rows) > keep
        ]

    def _drop_from(self, lists: list[tuple[list[Any], int]], excess: int) -> bool:
        weighed = [(rows, keep, [json_size(row) + 1 for row in rows]) for rows, keep in lists]
        freed = 0
        while freed < excess:
            open_lists = [item for item in weighed if len(item[0]) > item[1]]
            if not open_lists:
                break
            rows, _, sizes = max(open_lists, key=lambda item: sum(item[2]))
            self._dropped.append(rows.pop())
            freed += sizes.pop()
        return freed > 0


def _fault(value: Any, identities: Iterable[tuple[Location, Identity]]) -> IdentityFault | None:
    for where, mark in identities:
        for holder, key in _places(value, where):
            text = holder[key]
            reason = mark.fault(text) if isinstance(text, str) else None
            if reason is not None:
                path = document_at(value, where, holder)
                return IdentityFault(label(where), reason, mark.limit, text, path)
    return None


_PATH = Identity(MAX_PATH_CHARS, minimum=1)


def document_at(value: Any, where: Iterable[str | int], end: Any = None) -> str | None:
    """Return the path of the innermost document around a location; None without one.

    Args:
        value: JSON-ready facts.
        where: Steps to the location; ``EACH`` means any item of a list.
        end: The container at which to stop, needed to distinguish items.
    """
    found = None
    if isinstance(value, dict):
        path = value.get("path")
        found = path if isinstance(path, str) and _PATH.fault(path) is None else None
    step, *rest = where
    if value is end or not rest:
        return found
    try:
        inner = next(v for v in value if _holds(v, rest, end)) if step == EACH else value[step]
    except (LookupError, StopIteration, TypeError):
        # A validator's location may also contain the name of a union member.
        return found
    deeper = document_at(inner, rest, end)
    return found if deeper is None else deeper


def _holds(value: Any, where: Sequence[str | int], end: Any) -> bool:
    """Return whether a location inside a value contains a certain container."""
    return any(holder is end for holder, _ in _places(value, tuple(map(str, where))))


def _places(value: Any, where: Location) -> list[tuple[Any, Any]]:
    """Return the container and key of every existing place at a location."""
    holders = [value]
    for step in where[:-1]:
        if step == EACH:
            holders = [item for holder in holders if isinstance(holder, list) for item in holder]
        else:
            holders = [h[step] for h in holders if isinstance(h, dict) and step in h]
    last = where[-1]
    if last == EACH:
        return [(h, key) for h in holders if isinstance(h, list) for key in range(len(h))]
    return [(h, last) for h in holders if isinstance(h, dict) and last in h]


def _copied(value: Any) -> Any:
    """Return a copy of JSON-ready data; about three times as fast as ``deepcopy``."""
    if isinstance(value, dict):
        return {key: _copied(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_copied(item) for item in value]
    return value
