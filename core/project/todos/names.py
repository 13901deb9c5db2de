"""Canonical file names of todos: ``<id>-<status>-<priority>-<kebab description>.md``."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace
from typing import Any, get_args

from hindnote.core.project.contract.todos import TodoPriority, TodoStatus
from hindnote.core.project.contract_v1 import MAX_ID_DIGITS

STATUSES: tuple[TodoStatus, ...] = get_args(TodoStatus)
PRIORITIES: tuple[TodoPriority, ...] = get_args(TodoPriority)

DESCRIPTION_LIMIT = 60
"""Characters of the description in a new todo's name, at most."""

_CANONICAL = re.compile(
    rf"(?P<id>[0-9]{{3,{MAX_ID_DIGITS}}})-(?P<status>{'|'.join(STATUSES)})"
    rf"-(?P<priority>{'|'.join(PRIORITIES)})-(?P<description>[a-z0-9]+(?:-[a-z0-9]+)*)\.md"
)
_CLAIMED_ID = re.compile(r"([0-9]+)[-_. ]")


@dataclass(frozen=True, slots=True)
class TodoName:
    """A canonical name, taken apart."""

    rendered_id: str
    status: TodoStatus
    priority: TodoPriority
    description: str

    @property
    def id(self) -> int:
        """The id as a number."""
        return int(self.rendered_id)

    @property
    def file(self) -> str:
        """The file's name."""
        return f"{self.rendered_id}-{self.status}-{self.priority}-{self.description}.md"

    def moved(self, status: TodoStatus) -> TodoName:
        """Return the name with another status."""
        return replace(self, status=status)


def parse_name(name: str) -> TodoName | None:
    """Return a canonical name taken apart; None when it is not canonical."""
    found = _CANONICAL.fullmatch(name)
    if found is None:
        return None
    status: Any = found["status"]
    priority: Any = found["priority"]
    return TodoName(found["id"], status, priority, found["description"])


def claimed_id(name: str) -> int | None:
    """Return the number that any name starts with, canonical or not, so no id is given twice."""
    found = _CLAIMED_ID.match(name)
    # Beyond the contract's digits it can clash with no id that is ever given.
    if found is None or len(found[1].lstrip("0")) > MAX_ID_DIGITS:
        return None
    return int(found[1])


def render_id(number: int) -> str:
    """Return a new todo's id as its name holds it."""
    return f"{number:03d}"


def kebab(title: str) -> str:
    """Return a title as a description: lower-case ASCII words, ``todo`` when none is left."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    words = re.findall(r"[a-z0-9]+", plain)
    made = "-".join(words)[:DESCRIPTION_LIMIT].strip("-")
    return made or "todo"


def folded(name: str) -> str:
    """Return what names have in common that are one file on some other system."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())
