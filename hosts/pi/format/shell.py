"""Parse the notices of Pi after a shell's output: how the command ended, and what was cut off."""

from __future__ import annotations

import re

from msgspec import Struct

SHELLS = ("bash", "powershell")

_END = 8192
"""Number of characters at the end of the text that contain the notices, including paths."""

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
    """A shell's result, split into its parts."""

    body: str
    """The output, or the text in its place."""

    status: re.Match[str] | None
    """How the command failed: the sentence, exit code, seconds, whether it was aborted."""

    cut: re.Match[str] | None
    """The lines shown: first, last, total, or the number of a single line; and the path."""


def ending(text: str, failed: bool | None, told: bool) -> Ending:
    """Split a shell's result into its parts.

    Args:
        text: The result.
        failed: Whether it failed, as recorded. Only a failed run has a status.
        told: Whether the record says that the output was truncated. For a run that timed out, only
            the text says so.
    """
    status = _at_end(_STATUS, text) if failed is not False else None
    body = text[: status.start()] if status else text
    cut = _at_end(_OUTPUT, body) if status or told else None
    # A command may print such a notice itself; the tool's notice matches the lines before it.
    if cut and not told and not _tells_of(body[: cut.start()], cut):
        cut = None
    return Ending(body[: cut.start()] if cut else body, status, cut)


def _at_end(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    return pattern.search(text, max(0, len(text) - _END))


def _tells_of(shown: str, cut: re.Match[str]) -> bool:
    """Return whether a truncation notice matches these lines."""
    first, last, total, only = cut.group(1, 2, 3, 4)
    count = shown.removesuffix("\n").count("\n") + 1
    if only is not None:
        return count == 1
    return bool(last == total and int(last) - int(first) + 1 == count)
