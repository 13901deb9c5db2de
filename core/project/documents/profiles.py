"""Profiles: what an installed provider defines about a project's frontmatter.

A profile adds definitions, validators and redacted samples. It grants no permissions and gets no
path outside the workspace, and everything works without one. Providers are pluggy plugins with a
separate manager, found through the entry-point group ``hindnote.profiles``.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from functools import cache
from pathlib import Path
from typing import Any

import pluggy
from pydantic import ConfigDict
from pydantic.dataclasses import dataclass

from hindnote.core.plugins.entry_points import BrokenEntry, entries, load
from hindnote.core.project.contract.documents import FieldType

PROJECT = "hindnote.profiles"
GROUP = "hindnote.profiles"

hookspec = pluggy.HookspecMarker(PROJECT)
profileimpl = pluggy.HookimplMarker(PROJECT)
"""Marks a provider's implementation of ``artifact_profile``."""


_CHECKED = ConfigDict(strict=True)


@dataclass(frozen=True, config=_CHECKED)
class FieldDefinition:
    """The meaning of a field."""

    name: str
    type: FieldType
    description: str
    required: bool = False
    enum: tuple[str, ...] | None = None
    """All valid values of the field."""


@dataclass(frozen=True)
class Subject:
    """One document, as passed to a profile."""

    path: str
    scope: str
    frontmatter: Mapping[str, Any]


@dataclass(frozen=True, config=_CHECKED)
class Finding:
    """One problem of a document, as one short line."""

    message: str
    field: str | None = None


def _nothing(_: Any) -> Sequence[Any]:
    return ()


@dataclass(frozen=True, config=_CHECKED)
class ArtifactProfile:
    """A provider's profile for one workspace."""

    name: str
    definitions: tuple[FieldDefinition, ...] = ()
    applies: Callable[[Subject], bool] = field(default=lambda _: True)
    """Returns whether the profile applies to a document."""

    validate: Callable[[Subject], Iterable[Finding]] = field(default=_nothing)
    """Yields the problems of a document to which the profile applies."""

    samples: Callable[[str], Iterable[str]] = field(default=_nothing)
    """Yields redacted example values of a field."""


Providers = pluggy.PluginManager
"""The plugin manager in which providers are registered; see ``manager``."""


class _Spec:
    @hookspec
    def artifact_profile(self, workspace: Path) -> ArtifactProfile | None:
        """Return the provider's profile of a workspace's documents.

        Called once for each search or description, one provider after the other. If one raises an
        exception, its profile is left out and named in the evidence of each hit.

        Args:
            workspace: The physical directory of the workspace. Must not be changed.

        Returns:
            The profile, or ``None`` when it does not apply to this workspace.
        """


@dataclass(frozen=True)
class Profiles:
    """The profiles that apply to one workspace."""

    active: tuple[ArtifactProfile, ...] = ()
    broken: tuple[tuple[str, str], ...] = ()
    """Providers that failed, with the reason."""

    def __bool__(self) -> bool:
        """Return whether there is any profile or failure."""
        return bool(self.active or self.broken)

    def findings(self, subject: Subject) -> tuple[bool, list[tuple[str, Finding]]]:
        """Return whether any profile applies to a document, and all findings by provider."""
        applied = bool(self.broken)
        found = [(name, Finding(f"the profile failed: {why}")) for name, why in self.broken]
        for profile in self.active:
            try:
                if not profile.applies(subject):
                    continue
                applied = True
                found += [(profile.name, _finding(item)) for item in profile.validate(subject)]
            except Exception as error:  # noqa: BLE001 - somebody else's code must not fail a search
                found.append((profile.name, Finding(f"the profile failed: {_told(error)}")))
        return applied, found

    def samples(self, name: str) -> list[tuple[str, list[str]]]:
        """Return each provider's samples of a field."""
        found = []
        for profile in self.active:
            # A provider's error must not make a description fail, and samples are optional.
            with contextlib.suppress(Exception):
                found.append((profile.name, [str(value) for value in profile.samples(name)]))
        return found


def _finding(item: object) -> Finding:
    if not isinstance(item, Finding):
        raise TypeError(f"a validator yields Finding, not {type(item).__name__}")
    return item


def _told(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def manager(plugins: Mapping[str, object]) -> Providers:
    """Return a manager with the given providers registered by name."""
    made = pluggy.PluginManager(PROJECT)
    made.add_hookspecs(_Spec)
    for name, plugin in plugins.items():
        made.register(plugin, name)
    return made


@cache
def installed() -> Providers:
    """Return the manager of the installed providers, with a placeholder for each broken one."""
    plugins = {}
    for entry in entries(GROUP):
        try:
            plugins[entry.name] = load(entry)
        except BrokenEntry as error:
            plugins[entry.name] = _Broken(str(error))
    return manager(plugins)


class _Broken:
    """Replaces a provider that cannot be imported."""

    def __init__(self, why: str) -> None:
        self._why = why

    @profileimpl
    def artifact_profile(self, workspace: Path) -> ArtifactProfile | None:
        raise ImportError(self._why)


def ask(providers: Providers, workspace: Path) -> Profiles:
    """Return the profiles that apply to a workspace."""
    active, broken = [], []
    for name, plugin in providers.list_name_plugin():
        if plugin is None:
            continue
        others = [other for other in providers.get_plugins() if other is not plugin]
        hook = providers.subset_hook_caller("artifact_profile", others)
        try:
            answers = hook(workspace=workspace)
        except Exception as error:  # noqa: BLE001 - somebody else's code must not fail a search
            broken.append((name, _told(error)))
            continue
        for answer in answers:
            if isinstance(answer, ArtifactProfile):
                active.append(answer)
            else:
                broken.append((name, f"answered {type(answer).__name__}, not ArtifactProfile"))
    return Profiles(tuple(active), tuple(broken))
