"""All names that the author of a host may import, in one module.

They are the models for a plugin's answers, the building blocks for a decoder of session files, and
the functions for an entry script. These names are public (docs/public-api.md tells how long they
are kept); other modules of hindnote are not, except ``hindnote`` itself and ``hindnote.testing``.

Each name is imported on first use, so an entry script imports only what it needs.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hindnote.core.call import Answer, Dispatcher
    from hindnote.core.cli.home_option import HomeType
    from hindnote.core.cli.installing import warn_of_vanishing
    from hindnote.core.cli.tree import explained, report, tell
    from hindnote.core.doctor.findings import Finding, running
    from hindnote.core.errors import ArgumentError, HostFailure, PluginRefused, Refused
    from hindnote.core.history.catalogue_cache import ListedFile
    from hindnote.core.history.ends import first_lines, reader
    from hindnote.core.history.files import distinct_folders, open_file, scan_folder
    from hindnote.core.history.index_cache import FileCache, Index
    from hindnote.core.history.jsontext import (
        Unreadable,
        accepted,
        compact,
        may_be_deep,
        nonempty,
        parse,
        placeholder,
        shaped,
    )
    from hindnote.core.history.lines import Batch, LineFile, State, rewritten_meanwhile
    from hindnote.core.history.metadata_cache import FileFacts
    from hindnote.core.history.projection import (
        Branch,
        Damage,
        NestedCalls,
        Projection,
        Scannable,
        SessionHeader,
        SlotFacts,
        SlotKind,
    )
    from hindnote.core.history.session_files import SessionFiles
    from hindnote.core.history.times import instant, instants, known_instant, recorded
    from hindnote.core.install.edited_file import EditedFile
    from hindnote.core.install.lasting import vanishing
    from hindnote.core.install.lock import Busy, alone
    from hindnote.core.install.managed_folder import NotOurs
    from hindnote.core.install.programs import dotted, told_version, version_in
    from hindnote.core.install.variables import NoWholePath, check_whole_paths, home_to_record
    from hindnote.core.places.home import NotesHome, notes_home
    from hindnote.core.plugins.hosts import Hosts
    from hindnote.core.plugins.models import (
        Ancestor,
        Decoration,
        HostCall,
        HostIdentity,
        LiveEntries,
        SessionEntry,
    )
    from hindnote.core.system.programs import outside_project
    from hindnote.core.system.shortage import is_shortage
    from hindnote.core.text import clean
    from hindnote.core.text.messages import first_words
    from hindnote.core.tools.registry import registry
    from hindnote.core.tools.schema import declaration
    from hindnote.hookspecs import hookimpl

_MODULES = {
    "hindnote.core.plugins.models": (
        "Ancestor",
        "Decoration",
        "HostCall",
        "HostIdentity",
        "LiveEntries",
        "SessionEntry",
    ),
    "hindnote.core.tools.schema": ("declaration",),
    "hindnote.core.call": ("Answer", "Dispatcher"),
    "hindnote.core.install.edited_file": ("EditedFile",),
    "hindnote.core.install.managed_folder": ("NotOurs",),
    "hindnote.core.install.lock": (
        "Busy",
        "alone",
    ),
    "hindnote.core.install.variables": (
        "NoWholePath",
        "check_whole_paths",
        "home_to_record",
    ),
    "hindnote.core.install.lasting": ("vanishing",),
    "hindnote.core.install.programs": (
        "told_version",
        "version_in",
        "dotted",
    ),
    "hindnote.core.system.programs": ("outside_project",),
    "hindnote.core.cli.home_option": ("HomeType",),
    "hindnote.core.cli.installing": ("warn_of_vanishing",),
    "hindnote.core.cli.tree": (
        "explained",
        "report",
        "rewritten_meanwhile",
        "tell",
    ),
    "hindnote.core.doctor.findings": (
        "Finding",
        "running",
    ),
    "hindnote.core.errors": ("ArgumentError", "HostFailure", "PluginRefused", "Refused"),
    "hindnote.core.history.index_cache": ("FileCache", "Index"),
    "hindnote.core.history.ends": ("first_lines", "reader"),
    "hindnote.core.history.files": ("distinct_folders", "open_file", "scan_folder"),
    "hindnote.core.history.catalogue_cache": ("ListedFile",),
    "hindnote.core.history.metadata_cache": ("FileFacts",),
    "hindnote.core.history.session_files": ("SessionFiles",),
    "hindnote.core.history.times": ("instant", "instants", "known_instant", "recorded"),
    "hindnote.core.history.jsontext": (
        *("Unreadable", "accepted", "compact", "may_be_deep"),
        *("nonempty", "parse", "placeholder", "shaped"),
    ),
    "hindnote.core.system.shortage": ("is_shortage",),
    "hindnote.core.text": ("clean",),
    "hindnote.core.text.messages": ("first_words",),
    "hindnote.core.history.lines": ("Batch", "LineFile", "State", "rewritten_meanwhile"),
    "hindnote.core.history.projection": (
        *("Branch", "Damage", "NestedCalls", "Projection", "Scannable"),
        *("SessionHeader", "SlotFacts", "SlotKind"),
    ),
    "hindnote.core.places.home": ("NotesHome", "notes_home"),
    "hindnote.core.plugins.hosts": ("Hosts",),
    "hindnote.core.tools.registry": ("registry",),
    "hindnote.hookspecs": ("hookimpl",),
}

_HOMES = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [
    "Ancestor",
    "Answer",
    "ArgumentError",
    "Batch",
    "Branch",
    "Busy",
    "Damage",
    "Decoration",
    "Dispatcher",
    "EditedFile",
    "FileCache",
    "FileFacts",
    "Finding",
    "HomeType",
    "HostCall",
    "HostFailure",
    "HostIdentity",
    "Hosts",
    "Index",
    "LineFile",
    "ListedFile",
    "LiveEntries",
    "NestedCalls",
    "NoWholePath",
    "NotOurs",
    "NotesHome",
    "PluginRefused",
    "Projection",
    "Refused",
    "Scannable",
    "SessionEntry",
    "SessionFiles",
    "SessionHeader",
    "SlotFacts",
    "SlotKind",
    "State",
    "Unreadable",
    "accepted",
    "alone",
    "check_whole_paths",
    "clean",
    "compact",
    "declaration",
    "distinct_folders",
    "dotted",
    "explained",
    "first_lines",
    "first_words",
    "home_to_record",
    "hookimpl",
    "instant",
    "instants",
    "is_shortage",
    "known_instant",
    "may_be_deep",
    "nonempty",
    "notes_home",
    "open_file",
    "outside_project",
    "parse",
    "placeholder",
    "reader",
    "recorded",
    "registry",
    "report",
    "rewritten_meanwhile",
    "running",
    "scan_folder",
    "shaped",
    "tell",
    "told_version",
    "vanishing",
    "version_in",
    "warn_of_vanishing",
]


def __getattr__(name: str) -> Any:
    """Import a public name on first use."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List all public names, including those that are not imported yet."""
    return sorted({*globals(), *__all__})
