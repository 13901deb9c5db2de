"""The exceptions that several packages of the core use, and the refusal codes.

An exception that only one package raises and handles is defined there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

from hindnote.core.text.messages import one_line

if TYPE_CHECKING:
    from hindnote.core.plugins.source import Source

RefusalCode = Literal[
    "address_collision",
    "already_exists",
    "ambiguous_edit",
    "ambiguous_session",
    "changed",
    "invalid_address",
    "invalid_cwd",
    "invalid_frontmatter",
    "invalid_glob",
    "invalid_offset",
    "invalid_selection",
    "invalid_session",
    "invalid_time",
    "io_error",
    "locked",
    "no_current_session",
    "no_match",
    "not_an_event",
    "not_found",
    "not_on_branch",
    "not_text",
    "nothing_to_do",
    "output_too_large",
    "outside_home",
    "page_too_large",
    "read_only_home",
    "too_large",
    "unknown_seq",
    "unknown_session",
    "unreadable_session",
]
"""Every reason for which an operation refuses a call. The list is closed."""

REFUSAL_CODES: frozenset[str] = frozenset(get_args(RefusalCode))


RuleCode = Literal[
    "argument_default",
    "cwd_override",
    "duplicate_slug",
    "hook_option",
    "import_failed",
    "invalid_slug",
    "missing_hook",
    "reserved_slug",
    "unknown_hook",
    "unmarked_hook",
    "unreadable_plugin",
    "wrong_signature",
]
"""Every reason for which a plugin is refused. The list is closed."""


class Refusal(NamedTuple):
    """The refusal of a valid request.

    ``message`` is one line that contains every fact the caller needs to recover.
    """

    code: RefusalCode
    message: str


class Refused(Exception):
    """Raised when an operation refuses a call; ``core.call`` turns it into a refusal.

    Args:
        code: One of the closed list of refusal codes.
        message: The facts, and what to do. Line breaks are escaped and the length is limited here.
    """

    def __init__(self, code: RefusalCode, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.refusal = Refusal(code, one_line(message))

    @property
    def code(self) -> RefusalCode:
        """The refusal's code."""
        return self.refusal.code


class HostFailure(Exception):
    """The call could not be carried out because the host failed; not a refusal.

    The message is safe to show; it never contains the text of a crash.
    """


class ArgumentError(ValueError):
    """The arguments do not match the operation's input schema. This is not a refusal.

    The message names each field and what would be valid.
    """


class Malformed(ValueError):
    """A part of a plugin's answer breaks the contract; the message names the part.

    The caller of the plugin turns it into a ``HostFailure`` that names the plugin.
    """


class PluginRefused(ValueError):
    """A host plugin breaks the contract, so nothing of it is loaded.

    Args:
        code: The rule that it breaks.
        source: The plugin.
        reason: Why, and what to do instead.
    """

    def __init__(self, code: RuleCode, source: Source, reason: str) -> None:
        super().__init__(f"{source}: {reason}")
        self.code = code
        self.source = source
        self.reason = reason


def class_name(kind: type) -> str:
    """Return the name of a class for a message, without running the class's own code."""
    # A metaclass may override __name__ with a property; the descriptor of type reads the real one.
    name: str = vars(type)["__name__"].__get__(kind)
    return str.__str__(name)[:100]
