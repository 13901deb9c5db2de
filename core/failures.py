"""The failures that are nobody's refusal; importing them is light."""

from __future__ import annotations


class HostFailure(Exception):
    """The call could not be carried out, and no refusal says so: the host's failure.

    The message is safe to show; it never holds the text of a crash.
    """


class ArgumentError(ValueError):
    """The arguments break the operation's input schema: a host failure, no refusal.

    The message names each field and says what would be right.
    """
