"""Errors that are reported to the host instead of the model; importing them is light."""

from __future__ import annotations


class HostFailure(Exception):
    """The call could not be carried out, and no refusal says so: the host's failure.

    The message is safe to show; it never holds the text of a crash.
    """


class ArgumentError(ValueError):
    """The arguments break the operation's input schema: a host failure, no refusal.

    The message names each field and says what would be right.
    """


class Malformed(ValueError):
    """A part of a plugin's answer is not what the contract says; the message names the part.

    Whoever asked the plugin turns it into a ``HostFailure`` that names the plugin.
    """


def class_name(kind: type) -> str:
    """Return the name of a class for a message, without asking the class or its metaclass."""
    # A metaclass may define __name__ as a property; the descriptor of type reads the real one.
    name: str = vars(type)["__name__"].__get__(kind)
    return str.__str__(name)[:100]
