"""The failure that is nobody's refusal."""

from __future__ import annotations


class HostFailure(Exception):
    """The call could not be carried out, and no refusal says so: the host's failure.

    The message is safe to show; it never holds the text of a crash.
    """
