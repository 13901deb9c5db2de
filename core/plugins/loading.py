"""Find the host plugins of this process, and load each on first use."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from hindnote.core.errors import HostFailure, PluginRefused
from hindnote.core.plugins.entry_points import HOSTS, BrokenEntry, distribution, entries, load
from hindnote.core.plugins.guard import stdout_to_stderr
from hindnote.core.plugins.rules import check_slug, register
from hindnote.core.plugins.source import Source

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from pluggy import PluginManager


class HostReport(Struct, frozen=True):
    """One installed plugin, for the list that a person sees."""

    source: Source
    refused: PluginRefused | None = None


class Loaded(Struct, frozen=True):
    """A plugin that passed all checks, registered alone in its manager."""

    source: Source
    manager: PluginManager
    plugin: object


class Loader:
    """The plugins of one process: passed in, found by entry point, loaded or refused.

    Args:
        given: Plugins that the process has imported already, by slug.
        discover: Whether to use entry points as well; they are searched when a host is requested
            that is not loaded yet.

    Raises:
        PluginRefused: A plugin in ``given`` breaks the contract.
    """

    def __init__(self, given: Mapping[str, object], *, discover: bool) -> None:
        self._lock = threading.RLock()
        self._loaded: dict[str, Loaded] = {}
        self._refused: list[PluginRefused] = []
        self._found: dict[str, tuple[EntryPoint, Source]] = {}
        self._undiscovered = discover
        for slug, plugin in given.items():
            source = Source(slug, _reference(plugin))
            check_slug(source)
            self._loaded[slug] = Loaded(source, register(source, plugin), plugin)

    def slugs(self) -> tuple[str, ...]:
        """Return the slugs of all usable hosts, sorted. Imports all of them."""
        with self._lock:
            self._discover()
            for slug in list(self._found):
                self._import(slug)
            return tuple(sorted(self._loaded))

    def report(self) -> list[HostReport]:
        """Return every installed plugin; refused ones with the reason."""
        with self._lock:
            loaded = [HostReport(self._loaded[slug].source) for slug in self.slugs()]
            return loaded + [HostReport(refused.source, refused) for refused in self._refused]

    def not_loaded(self) -> dict[str, HostFailure]:
        """Return the error of each refused plugin, by its slug.

        Where another plugin has the slug, the key contains the distribution as well.
        """
        with self._lock:
            loaded, found = self.slugs(), {}
            for refused in self._refused:
                slug = refused.source.slug
                taken = slug in loaded or slug in found
                key = f"{slug} ({refused.source.distribution})" if taken else slug
                found[key] = _failed_to_load(refused)
            return found

    def host(self, slug: str) -> Loaded:
        """Return one plugin, importing it if needed.

        Raises:
            HostFailure: It is not installed, or was refused.
        """
        host = self._loaded.get(slug)
        if host is not None:
            return host
        with self._lock:
            self._discover()
            self._import(slug)
            if slug in self._loaded:
                return self._loaded[slug]
            for refused in self._refused:
                if refused.source.slug == slug:
                    raise _failed_to_load(refused)
            known = ", ".join(sorted({*self._loaded, *self._found})) or "none"
        raise HostFailure(f"no host {slug!r} is installed; there are: {known}")

    def _discover(self) -> None:
        """Find the entry points, once; a second plugin with the same slug is refused."""
        if not self._undiscovered:
            return
        self._undiscovered = False
        for entry in entries(HOSTS):
            source = _source(entry)
            if entry.name in self._found:
                self._refuse_duplicate(source, self._found[entry.name][1])
            elif entry.name in self._loaded:
                self._adopt(self._loaded[entry.name], entry, source)
            else:
                self._found[entry.name] = (entry, source)

    def _adopt(self, own: Loaded, entry: EntryPoint, source: Source) -> None:
        """Accept an entry point for a plugin that was passed in; refuse another with its slug."""
        try:
            with stdout_to_stderr:
                same = own.source.distribution is None and load(entry) is own.plugin
        except BrokenEntry:
            same = False
        if same:
            self._loaded[source.slug] = Loaded(source, own.manager, own.plugin)
        else:
            self._refuse_duplicate(source, own.source)

    def _refuse_duplicate(self, source: Source, holder: Source) -> None:
        self._refused.append(
            PluginRefused(
                "duplicate_slug",
                source,
                f"the slug is taken by {holder}; uninstall one of the two, or let the "
                "distribution name its entry point after its own host",
            )
        )

    def _import(self, slug: str) -> None:
        """Import a plugin that was found, and load or refuse it."""
        if slug not in self._found:
            return
        entry, source = self._found.pop(slug)
        try:
            check_slug(source)
            with stdout_to_stderr:
                plugin = load(entry)
                self._loaded[slug] = Loaded(source, register(source, plugin), plugin)
        except PluginRefused as refused:
            self._refused.append(refused)
        except BrokenEntry as broken:
            reason = f"{broken}; repair or uninstall the distribution"
            self._refused.append(PluginRefused("import_failed", source, reason))


def _failed_to_load(refused: PluginRefused) -> HostFailure:
    return HostFailure(f"the host {refused.source.slug!r} failed to load: {refused}")


def _source(entry: EntryPoint) -> Source:
    location = str(entry.dist.locate_file("")) if entry.dist else None
    return Source(entry.name, entry.value, distribution(entry), location)


def _reference(plugin: object) -> str:
    named = plugin if inspect.ismodule(plugin) or inspect.isclass(plugin) else type(plugin)
    return str(getattr(named, "__qualname__", None) or getattr(named, "__name__", named))
