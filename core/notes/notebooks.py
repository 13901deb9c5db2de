"""The folder of a session's notebook."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from hindnote.core.errors import Refused
from hindnote.core.fs.handles import look, names_in
from hindnote.core.fs.names import same_elsewhere
from hindnote.core.text.slug import encode_session_id

if TYPE_CHECKING:
    from hindnote.core.notes.tree import Tree

_ESCAPED_OR_CAPITAL = re.compile(r"%[0-9A-F]{2}|[A-Z]")
_ESCAPED_OR_LETTER = re.compile(r"%[0-9A-F]{2}|[A-Za-z]")


def notebook_folder(tree: Tree, host: str, session_id: str) -> tuple[str, ...]:
    """Return the path segments of a session's notebook under the notes home.

    The folder's name is the encoded session id. If another session's folder has the same name
    except for letter case, which some file systems ignore, capitals are escaped as well (or every
    letter of a name without capitals). Existing folders keep their names.
    """
    plain = encode_session_id(session_id)
    try:
        with tree.folder((host, "session"), "session") as handle:
            return (host, "session", _name(handle, plain))
    except (OSError, Refused):
        return (host, "session", plain)


def _name(folder: int, plain: str) -> str:
    if _is_there(folder, plain):
        return plain
    pattern = _ESCAPED_OR_CAPITAL
    if not any(len(found) == 1 for found in pattern.findall(plain)):
        pattern = _ESCAPED_OR_LETTER
    escaped = pattern.sub(_escape, plain)
    if _is_there(folder, escaped):
        return escaped
    wanted = same_elsewhere(plain)
    taken = any(same_elsewhere(name) == wanted for name in names_in(folder))
    return escaped if taken else plain


def _escape(found: re.Match[str]) -> str:
    text = found.group()
    return text if len(text) > 1 else f"%{ord(text):02X}"


def _is_there(folder: int, name: str) -> bool:
    """Return whether a folder contains exactly this name, even if letter case is ignored."""
    status = look(folder, name)
    if status is None:
        return False
    other = look(folder, name.swapcase())
    if name == name.swapcase() or other is None or not os.path.samestat(status, other):
        return True
    return name in names_in(folder)
