"""Scan a todos root: canonical todos, every issue, and the directory's hash.

Nothing is ever repaired. A conflict (duplicate ids, a name that disagrees with its frontmatter,
names that are the same on another system) blocks every mutation in its root; any other issue only
concerns its own file.
"""

from __future__ import annotations

import errno
import hashlib
import os
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from hindnote.core.fs.handles import closing, open_folder
from hindnote.core.fs.names import same_elsewhere
from hindnote.core.project.contract.envelope import IssueCode
from hindnote.core.project.markdown import Markdown, decode, parse_markdown, shown
from hindnote.core.project.state import NOT_A_FILE, digest, read_regular
from hindnote.core.project.todos.names import TodoName, claimed_id, parse_name
from hindnote.core.project.workspace import Root, entries

LEVELS = 16
"""Maximum depth at which subfolders of a todos root are searched for ids."""

_BLOCKING: frozenset[IssueCode] = frozenset({"duplicate_id", "name_mismatch", "name_collision"})


@dataclass(frozen=True, slots=True)
class Found:
    """One Markdown entry of a todos root."""

    name: str
    canonical: TodoName | None
    hash: str | None
    """None when the content could not be read."""

    markdown: Markdown | None
    """None when the content could not be read or is not text."""


@dataclass(slots=True)
class Scan:
    """The content of a todos root at one moment."""

    root: Root
    found: list[Found] = field(default_factory=list)
    issues: list[dict[str, Any]] = field(default_factory=list)
    directory_hash: str = ""

    def todos(self) -> list[dict[str, Any]]:
        """Return the identities of canonical todos whose content was read, sorted by id."""
        known = [entry for entry in self.found if entry.canonical and entry.hash]
        known.sort(key=lambda entry: (entry.canonical.id if entry.canonical else 0, entry.name))
        return [todo for todo in (identity(self.root, entry) for entry in known) if todo]

    def blocking(self) -> list[dict[str, Any]]:
        """Return the issues that block every mutation."""
        return [issue for issue in self.issues if issue["blocking"]]

    def issues_of(self, name: str) -> list[dict[str, Any]]:
        """Return the issues of one file."""
        path = self.root.shown(name)
        return [issue for issue in self.issues if issue.get("path") == path]

    def get(self, name: str) -> Found | None:
        """Return the entry with a name, ignoring its Unicode form in the file system."""
        same = [entry for entry in self.found if entry.name == name]
        if not same:
            wanted = unicodedata.normalize("NFC", name)
            same = [e for e in self.found if unicodedata.normalize("NFC", e.name) == wanted]
        return same[0] if len(same) == 1 else None

    def next_id(self, elsewhere: Iterable[int] = ()) -> int:
        """Return the lowest id above every id that is in use or claimed.

        Args:
            elsewhere: Ids that are claimed outside the root itself.
        """
        claims = [0, *elsewhere]
        for entry in self.found:
            claims += [
                number
                for number in (claimed_id(entry.name), _recorded_id(entry.markdown))
                if number is not None
            ]
        return max(claims) + 1

    def note(self, code: IssueCode, name: str | None, message: str) -> None:
        """Add an issue about an entry."""
        issue: dict[str, Any] = {"code": code, "blocking": code in _BLOCKING, "message": message}
        if name is not None:
            issue["path"] = self.root.shown(name)
        self.issues.append(issue)


def identity(root: Root, entry: Found) -> dict[str, Any] | None:
    """Return a todo's identity in the contract's form."""
    if entry.canonical is None or entry.hash is None:
        return None
    told = {
        "path": root.shown(entry.name),
        "id": entry.canonical.id,
        "status": entry.canonical.status,
        "priority": entry.canonical.priority,
        "hash": entry.hash,
    }
    title = None if entry.markdown is None else entry.markdown.values.get("title")
    text = None if title is None else shown(title)
    return {**told, "title": text} if text else told


def claimed_below(folder: int, levels: int = LEVELS) -> Iterator[int]:
    """Yield the ids in names in subfolders of an open todos root, such as an archive.

    Args:
        folder: Handle of the folder whose subfolders are searched. Links are not followed.
        levels: Maximum depth.

    Raises:
        OSError: A subfolder cannot be read, so an id in it could be reused.
    """
    for item in entries(folder):
        if item.name.startswith(".") or not item.is_dir(follow_symlinks=False):
            continue
        with closing(open_folder(folder, item.name)) as inner:
            for entry in entries(inner):
                number = claimed_id(entry.name) if _is_markdown(entry.name) else None
                if number is not None:
                    yield number
            if levels:
                yield from claimed_below(inner, levels - 1)


def _is_markdown(name: str) -> bool:
    return not name.startswith(".") and name.casefold().endswith(".md")


def scan(root: Root, folder: int) -> Scan:
    """Return a scan of an open todos root.

    Only Markdown entries directly in it count; hidden ones and folders do not.

    Raises:
        OSError: The folder cannot be read.
    """
    result = Scan(root)
    summary = hashlib.sha256()
    for item in entries(folder):
        if not _is_markdown(item.name):
            continue
        entry = _entry(result, folder, item)
        line = os.fsencode(item.name) + b"\0" + (entry.hash or "unread").encode() + b"\n"
        summary.update(line)
    result.directory_hash = f"sha256:{summary.hexdigest()}"
    _note_duplicates(result)
    _note_collisions(result)
    return result


def _entry(result: Scan, folder: int, item: os.DirEntry[str]) -> Found:
    name = item.name if _representable(item.name) else None
    if name is None:
        result.note("not_canonical", None, f"a name that is not UTF-8: {item.name!a}")
    content = _content(result, folder, item, name)
    canonical = parse_name(item.name)
    text = None if content is None else decode(content)
    markdown = None if text is None else parse_markdown(text)
    entry = Found(item.name, canonical, None if content is None else digest(content), markdown)
    result.found.append(entry)
    if name is None:
        return entry
    if canonical is None:
        shape = "<3 digits or more>-<pending|ready|complete>-<p1|p2|p3>-<kebab-words>.md"
        result.note("not_canonical", name, f"not a todo's name; one has the form {shape}")
    elif markdown is not None:
        for code, message in check(canonical, markdown):
            result.note(code, name, message)
    elif content is not None:
        result.note("not_text", name, "the content is not UTF-8")
    return entry


def _content(result: Scan, folder: int, item: os.DirEntry[str], name: str | None) -> bytes | None:
    try:
        content = read_regular(folder, item.name)
    except OSError as error:
        if error.errno == errno.ELOOP:
            result.note("symlink", name, "a symbolic link, which is not followed")
        elif error.errno in NOT_A_FILE:
            result.note("not_a_file", name, "not a regular file")
        else:
            result.note("unreadable", name, f"cannot be read: {error.strerror}")
        return None
    if content is None:
        result.note("unreadable", name, "went away while it was read")
    return content


def check(name: TodoName, markdown: Markdown) -> Iterator[tuple[IssueCode, str]]:
    """Yield the problems of a todo's frontmatter, including differences from its name."""
    if markdown.problem is not None:
        yield "invalid_frontmatter", f"the frontmatter cannot be read: {markdown.problem}"
        return
    if markdown.parts is None:
        yield "invalid_frontmatter", "no frontmatter; issue_id, status and priority are required"
        return
    told: Mapping[str, Any] = markdown.values
    expected = {"status": name.status, "priority": name.priority}
    missing = [key for key in ("issue_id", *expected) if key not in told]
    if missing:
        yield "invalid_frontmatter", f"the frontmatter has no {', '.join(missing)}"
    if "issue_id" in told and _number(told["issue_id"]) != name.id:
        yield (
            "name_mismatch",
            f"the name has id {name.rendered_id}, issue_id is {str(told['issue_id'])[:60]}",
        )
    for key, value in expected.items():
        if key in told and told[key] != value:
            yield "name_mismatch", f"the name has {key} {value}, {key} is {str(told[key])[:60]}"


def _number(value: Any) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    # A long run of digits is not an id, and takes quadratic time to convert.
    if isinstance(value, str) and len(value) <= 20 and value.isascii() and value.isdigit():
        return int(value)
    return None


def _recorded_id(markdown: Markdown | None) -> int | None:
    number = None if markdown is None else _number(markdown.values.get("issue_id"))
    return number if number is not None and 0 <= number < 10**15 else None


def _note_duplicates(result: Scan) -> None:
    groups: dict[int, list[str]] = defaultdict(list)
    for entry in result.found:
        if entry.canonical is not None:
            groups[entry.canonical.id].append(entry.name)
    for number, names in groups.items():
        _note_group(result, "duplicate_id", names, f"id {number} is also used by")


def _note_collisions(result: Scan) -> None:
    groups: dict[str, list[str]] = defaultdict(list)
    for entry in result.found:
        groups[same_elsewhere(entry.name)].append(entry.name)
    for names in groups.values():
        _note_group(result, "name_collision", names, "one file on some systems together with")


def _note_group(result: Scan, code: IssueCode, names: Iterable[str], told: str) -> None:
    together = [name for name in names if _representable(name)]
    if len(together) < 2:
        return
    for name in together:
        others = [other for other in together[:4] if other != name][:3]
        more = len(together) - 1 - len(others)
        result.note(code, name, f"{told} {', '.join(others)}{f' and {more} more' if more else ''}")


def _representable(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
