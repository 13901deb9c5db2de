"""How a shell's result ends: what Pi says below the output about its end and what was cut off."""

from __future__ import annotations

import re

from msgspec import Struct

SHELLS = ("bash", "powershell")

_END = 8192
"""Characters in which that lies, paths included."""

_N = "[0-9]{1,12}"
_STATUS = re.compile(
    rf"(?:\A|\n\n)(Command (?:exited with code (-?{_N})"
    rf"|timed out after ({_N}(?:\.{_N})?) seconds(?:\. The shell [^\n]*)?"
    r"|(aborted)|terminated without an exit code))\Z"
)
_OUTPUT = re.compile(
    rf"(?:\A|\n\n)\[Showing (?:lines ({_N})-({_N}) of ({_N})(?: \([^()\n]*limit\))?"
    rf"|last [^\s]* of line ({_N}) \([^()\n]*\))\. Full output: ([^\n]+)\]\Z"
)


class Ending(Struct, frozen=True):
    """A shell's result, taken apart."""

    body: str
    """The output, or what stands in its place."""

    status: re.Match[str] | None
    """How it ended, if not well: the sentence, exit code, seconds, whether it was aborted."""

    cut: re.Match[str] | None
    """What is shown: first line, last line, of how many, or of which one line; and the path."""


def ending(text: str, failed: bool | None, told: bool) -> Ending:
    """Take a shell's result apart.

    Args:
        text: The result.
        failed: Whether it failed, as recorded. A run that did not has no status.
        told: Whether the record says that the output was cut. A run that timed out
            says so nowhere but in its text.
    """
    status = _at_end(_STATUS, text) if failed is not False else None
    body = text[: status.start()] if status else text
    cut = _at_end(_OUTPUT, body) if status or told else None
    # A command may print such a notice itself; the tool's own tells the lines before it.
    if cut and not told and not _tells_of(body[: cut.start()], cut):
        cut = None
    return Ending(body[: cut.start()] if cut else body, status, cut)


def _at_end(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    return pattern.search(text, max(0, len(text) - _END))


def _tells_of(shown: str, cut: re.Match[str]) -> bool:
    """Return whether a notice about an output's end tells of these lines."""
    first, last, total, only = cut.group(1, 2, 3, 4)
    count = shown.removesuffix("\n").count("\n") + 1
    if only is not None:
        return count == 1
    return bool(last == total and int(last) - int(first) + 1 == count)
