"""Write, find and remove hindnote's part of Codex's ``config.toml``.

The part is at the end of the file between two comments, and all other bytes stay as they are.
Codex also writes to the file itself, for example when a person trusts a hook. If it has written
between the comments, our tables are removed one by one, and the rest stays.
"""

from __future__ import annotations

import json
import shlex
import tomllib
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from hindnote.hosting import NotOurs
from hindnote.hosts.codex.paths import SERVER

BEGIN = (
    "# hindnote: begin. Written by `hindnote install codex`; `hindnote uninstall codex` removes it."
)
OWN_FILE = "# The file was made for it."
END = "# hindnote: end"

EVENTS = ("SessionStart", "SubagentStart")
"""Events at which Codex runs our hook: the start of a window, and of a subagent."""

_BOOT = ("boot", "codex")
"""End of our hooks' command line, without options."""


class Settings(NamedTuple):
    """The content of hindnote's part."""

    command: str
    """The absolute path of ``hindnote``."""

    home: str | None = None
    """The notes home as an absolute path; None for the default."""

    ask: bool = False
    """Whether Codex asks before each call that changes something."""

    project_tools: bool = False


def block(settings: Settings, *, own_file: bool) -> str:
    """Return hindnote's part of the file, without the line break before it."""
    home = ["--home", settings.home] if settings.home else []
    args = ["mcp", "--host", "codex", *home]
    if settings.project_tools:
        args.append("--project-tools")
    lines = [BEGIN, *([OWN_FILE] if own_file else [])]
    lines += [
        f"[mcp_servers.{SERVER}]",
        f"command = {_string(settings.command)}",
        f"args = [{', '.join(map(_string, args))}]",
        "required = true",
    ]
    if not settings.ask:
        lines.append('default_tools_approval_mode = "approve"')
    boot = shlex.join([settings.command, *_BOOT, *home])
    for event in EVENTS:
        lines += ["", f"[[hooks.{event}]]", f"[[hooks.{event}.hooks]]", 'type = "command"']
        lines += [f"command = {_string(boot)}", "timeout = 30"]
    return "\n".join([*lines, END, ""])


def _string(text: str) -> str:
    """Return a text as a TOML string. JSON's escapes are valid in TOML."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def is_there(text: str) -> bool:
    """Return whether a configuration contains hindnote's part, or a rest of it."""
    return BEGIN in text


def added(text: str | None, settings: Settings) -> str:
    """Return a configuration with hindnote's part at its end.

    Args:
        text: The configuration without this part; None when there is no file.
        settings: The content of that part.

    Raises:
        NotOurs: It is not valid TOML, or already contains such tables.
    """
    part = block(settings, own_file=text is None)
    if text is None:
        return part
    before = _parsed(text)
    if SERVER in _table(before.get("mcp_servers")):
        raise NotOurs(
            f"mcp_servers.{SERVER} is there already, and `hindnote install codex` did not write "
            "it; remove that table first"
        )
    whole = f"{text}\n{part}"
    try:
        tomllib.loads(whole)
    except tomllib.TOMLDecodeError as error:
        raise NotOurs(
            "no table can be added to it, since mcp_servers or hooks is written on one line "
            f"({error}); write it as a table first"
        ) from None
    return whole


def removed(text: str) -> str | None:
    """Return a configuration without hindnote's part; None when nothing else was in the file.

    Raises:
        NotOurs: It is not valid TOML.
    """
    _parsed(text)
    start, end = text.index(BEGIN), text.find(END)
    stop = end + len(END) + 1 if end >= 0 else len(text)
    part = text[start:stop]
    own = OWN_FILE in part
    if end >= 0 and _is_ours_alone(part):
        rest = text[: max(start - 1, 0)] + text[stop:]
    else:
        rest = _picked_out(text)
    return None if own and not rest.strip() else rest


def _is_ours_alone(part: str) -> bool:
    """Return whether a part of the file contains only our tables."""
    try:
        found = tomllib.loads(part)
    except tomllib.TOMLDecodeError:
        return False
    servers, hooks = _table(found.pop("mcp_servers", {})), _table(found.pop("hooks", {}))
    groups = [group for event in hooks.values() for group in _list(event)]
    return (
        not found
        and [*servers] == [SERVER]
        and {*hooks} <= {*EVENTS}
        and all(map(_is_our_group, groups))
    )


def _picked_out(text: str) -> str:
    """Return a configuration without our tables, wherever they are.

    Raises:
        NotOurs: The tables are not in the form that Codex and hindnote write.
    """
    kept: list[str] = []
    for section in _sections(text):
        if not _is_our_section(section):
            kept.append(section)
        elif kept and kept[-1].startswith("[[hooks.") and section.startswith("[[hooks."):
            # A hook's group is a separate table in front of the hook's table.
            kept.pop()
    rest = "".join(kept)
    if _parsed(rest) != _without_ours(_parsed(text)):
        raise NotOurs(
            f"what stands between {BEGIN!r} and {END!r} was changed; take the tables of hindnote "
            "out by hand"
        )
    return rest


def _sections(text: str) -> Iterator[str]:
    """Yield the parts of a configuration that begin with a table header, without our comments."""
    section: list[str] = []
    for line in text.splitlines(keepends=True):
        if line.strip() in _COMMENTS:
            continue
        if line.startswith("[") and section:
            yield "".join(section)
            section = []
        section.append(line)
    yield "".join(section)


def _is_our_section(section: str) -> bool:
    """Return whether a part is the table of our server, or of our hook."""
    if section.startswith(f"[mcp_servers.{SERVER}]"):
        return True
    if not section.startswith(tuple(f"[[hooks.{event}.hooks]]" for event in EVENTS)):
        return False
    try:
        found = tomllib.loads(section.partition("\n")[2])
    except tomllib.TOMLDecodeError:
        return False
    return _is_our_command(found.get("command"))


def _without_ours(found: dict[str, Any]) -> dict[str, Any]:
    """Return a parsed configuration without our tables, and without tables that are then empty."""
    servers = {
        name: one for name, one in _table(found.get("mcp_servers")).items() if name != SERVER
    }
    hooks = {
        event: [group for group in groups if not _is_our_group(group)]
        if isinstance(groups, list)
        else groups
        for event, groups in _table(found.get("hooks")).items()
    }
    hooks = {event: groups for event, groups in hooks.items() if groups != []}
    changed = {"mcp_servers": servers, "hooks": hooks}
    return {
        **{name: value for name, value in found.items() if name not in changed},
        **{name: value for name, value in changed.items() if value},
    }


_COMMENTS = {BEGIN, OWN_FILE, END}


def _is_our_group(group: Any) -> bool:
    """Return whether a group of hooks contains only our hook."""
    commands = [_table(hook).get("command") for hook in _list(_table(group).get("hooks"))]
    return bool(commands) and all(map(_is_our_command, commands))


def _is_our_command(command: Any) -> bool:
    try:
        words = shlex.split(command) if isinstance(command, str) else []
    except ValueError:
        return False
    return tuple(words[1:3]) == _BOOT


def installed(text: str) -> Iterator[str]:
    """Yield the commands of our server and hooks in a configuration.

    Raises:
        NotOurs: It is not valid TOML.
    """
    found = _parsed(text)
    server = _table(_table(found.get("mcp_servers")).get(SERVER))
    if isinstance(server.get("command"), str):
        yield server["command"]
    hooks = _table(found.get("hooks"))
    for event in EVENTS:
        for group in _list(hooks.get(event)):
            if _is_our_group(group):
                yield shlex.split(_list(_table(group)["hooks"])[0]["command"])[0]


def _parsed(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise NotOurs(f"it is not valid TOML ({error}); correct it first") from None


def _table(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else []
