"""Canonical file names of todos: ``<id>-<status>-<priority>-<kebab description>.md``."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace
from typing import Any, get_args

from hindnote.core.fs.names import invisible
from hindnote.core.project.contract.bounds import MAX_ID_DIGITS
from hindnote.core.project.contract.todos import TodoPriority, TodoStatus

STATUSES: tuple[TodoStatus, ...] = get_args(TodoStatus)
PRIORITIES: tuple[TodoPriority, ...] = get_args(TodoPriority)

DESCRIPTION_LIMIT = 60
"""Maximum length of the description in a new todo's name, in characters."""

DESCRIPTION_BYTES = 180
"""Maximum length of it in UTF-8 bytes: file systems allow 255 for a whole name."""

_CANONICAL = re.compile(
    rf"(?P<id>[0-9]{{3,{MAX_ID_DIGITS}}})-(?P<status>{'|'.join(STATUSES)})"
    rf"-(?P<priority>{'|'.join(PRIORITIES)})-(?P<description>.+)\.md",
    re.DOTALL,
)
_CLAIMED_ID = re.compile(r"([0-9]+)[-_. ]")


@dataclass(frozen=True, slots=True)
class TodoName:
    """A canonical name, split into its parts."""

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
    """Return the parts of a canonical name, in NFC; None when it is not canonical.

    The file system may store the name in another Unicode form, as macOS does.
    """
    found = _CANONICAL.fullmatch(unicodedata.normalize("NFC", name))
    if found is None or not _is_kebab(found["description"]):
        return None
    status: Any = found["status"]
    priority: Any = found["priority"]
    return TodoName(found["id"], status, priority, found["description"])


def claimed_id(name: str) -> int | None:
    """Return the number at the start of any name, canonical or not, so that no id is reused."""
    found = _CLAIMED_ID.match(name)
    # A number with more digits than the contract allows cannot equal an allocated id.
    if found is None or len(found[1].lstrip("0")) > MAX_ID_DIGITS:
        return None
    return int(found[1])


def render_id(number: int) -> str:
    """Return a new todo's id as it appears in its name."""
    return f"{number:03d}"


def kebab(title: str) -> str:
    """Return a title as a description: its words in lower case, or ``todo`` without any.

    Letters, marks and digits of every script are kept, in NFC.
    """
    lower = unicodedata.normalize("NFC", unicodedata.normalize("NFC", title).lower())
    parted = "".join(char if _is_letter(char) else "-" for char in lower)
    # A mark belongs to the letter before it; without one it is removed.
    words = [word.lstrip(_marks(word)) for word in parted.split("-")]
    return _shortened("-".join(filter(None, words))) or "todo"


def _shortened(text: str) -> str:
    """Return as much of a description as fits, without separating a letter from its marks."""
    end = min(len(text), DESCRIPTION_LIMIT)
    while len(text[:end].encode()) > DESCRIPTION_BYTES or (
        end and end < len(text) and _is_mark(text[end])
    ):
        end -= 1
    return text[:end].strip("-")


def _is_kebab(text: str) -> bool:
    return text == text.lower() and all(
        word and not _is_mark(word[0]) and all(map(_is_letter, word)) for word in text.split("-")
    )


def _is_letter(char: str) -> bool:
    """Return whether a character may be part of a word: a visible letter, mark or digit."""
    if char.isascii():
        return char.isalnum()
    return unicodedata.category(char)[0] in "LMN" and invisible(char) is None


def _is_mark(char: str) -> bool:
    return unicodedata.category(char)[0] == "M"


def _marks(word: str) -> str:
    return "".join(filter(_is_mark, word))
