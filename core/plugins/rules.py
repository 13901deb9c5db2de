"""The rules for a host plugin: every reason for which loading refuses one.

A plugin is checked before it is registered, using pluggy's own parsing of its marks. It is refused
as a whole; the message explains the first rule that it breaks and what to do.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from pluggy import PluginManager

from hindnote import hookspecs
from hindnote.core.errors import PluginRefused
from hindnote.core.plugins.source import Source
from hindnote.core.text.slug import RESERVED_HOSTS, SLUG_LIMIT, is_slug

REQUIRED = ("host_base_cwd", "host_identity", "host_projection")
"""Hooks that every plugin must implement."""

RESERVED_NAMES = frozenset(
    {
        "cwd_override",
        "override_cwd",
        "project_cwd",
        "project_key",
        "project_root",
        "resolve_cwd",
        "resolve_project",
        "select_cwd",
        "select_project",
        "set_cwd",
    }
)
"""Names of the working-directory logic, which only the core may implement."""

_OPTIONS = {
    "wrapper": "a wrapper changes what another function answered",
    "hookwrapper": "a wrapper changes what another function answered",
    "tryfirst": "a call asks its own host's plugin alone, so there is no order to win",
    "trylast": "a call asks its own host's plugin alone, so there is no order to yield in",
    "specname": "it hides which hook a function answers, and can give one hook two answers",
    "optionalhook": "it hides a hook that does not exist",
}


def new_manager() -> PluginManager:
    """Return a plugin manager with the hook specifications and without plugins."""
    manager = PluginManager(hookspecs.PROJECT_NAME)
    manager.add_hookspecs(hookspecs)
    return manager


def specified_hooks(manager: PluginManager) -> dict[str, tuple[str, ...]]:
    """Return the argument names of every hook in the contract, by hook name."""
    return {
        name: tuple(inspect.signature(getattr(hookspecs, name)).parameters)
        for name in dir(hookspecs)
        if manager.parse_hookspec_opts(hookspecs, name) is not None
    }


def check_slug(source: Source) -> None:
    """Refuse an entry-point name that cannot be a host's slug.

    Raises:
        PluginRefused: ``invalid_slug`` or ``reserved_slug``.
    """
    if not is_slug(source.slug):
        raise PluginRefused(
            "invalid_slug",
            source,
            "the entry point's name is the host's slug and becomes a folder's name; rename it to "
            "lower-case ASCII letters, digits, '-', '_' and '.', starting with a letter or a "
            f"digit, at most {SLUG_LIMIT} characters",
        )
    if source.slug in RESERVED_HOSTS:
        raise PluginRefused(
            "reserved_slug",
            source,
            f"{source.slug!r} is the name of a folder in every notes home; give the entry point "
            f"the host's own name (reserved: {', '.join(sorted(RESERVED_HOSTS))})",
        )


def register(source: Source, plugin: object) -> PluginManager:
    """Check every rule and return a manager that contains only this plugin.

    Each plugin has its own manager: a call is bound to one host, and without a common manager a
    plugin cannot wrap, reorder or replace another plugin's answers.

    Raises:
        PluginRefused: The plugin breaks a rule.
    """
    try:
        return _registered(source, plugin)
    except PluginRefused:
        raise
    except (Exception, SystemExit) as error:
        # Inspecting a plugin runs its code: __dir__, __getattr__, descriptors.
        raise PluginRefused(
            "unreadable_plugin",
            source,
            f"looking at its attributes raised {type(error).__name__}; make it a module, a class "
            "or an instance with plain functions, and let __getattr__ raise AttributeError for "
            "what is not there",
        ) from error


def _registered(source: Source, plugin: object) -> PluginManager:
    manager = new_manager()
    specs = specified_hooks(manager)
    names = dir(plugin)
    _check_cwd_logic(source, plugin, names)
    marked = {
        name: options
        for name in names
        if (options := manager.parse_hookimpl_opts(plugin, name)) is not None
    }
    for name, options in marked.items():
        _check_options(source, name, dict(options))
        _check_known(source, name, specs)
        _check_signature(source, name, getattr(plugin, name), specs[name])
    _check_complete(source, names, set(marked), specs)
    manager.register(plugin, name=source.slug)
    callers = manager.get_hookcallers(plugin) or ()
    registered = [caller.name for caller in callers for _ in caller.get_hookimpls()]
    if sorted(registered) != sorted(marked):
        raise PluginRefused(
            "unreadable_plugin",
            source,
            "its attributes differ between two looks at it; define the hooks as plain functions",
        )
    return manager


def _check_cwd_logic(source: Source, plugin: object, names: list[str]) -> None:
    offered = [name for name in names if _is_reserved(name)]
    # A dynamic attribute may be missing from dir(), so each name is checked as well.
    offered += [name for name in sorted(RESERVED_NAMES) if hasattr(plugin, name)]
    if not offered:
        return
    name = offered[0]
    home = getattr(getattr(plugin, name, None), "__module__", None) or ""
    if home.startswith("hindnote.core"):
        reason = (
            f"imports {name!r} from {home} into its own namespace, where it looks like an "
            "override of the working-directory logic; import it inside the function that needs "
            "it, or under a private name: "
            f"from {home} import {name} as _{name.lstrip('_')}"
        )
    else:
        reason = (
            f"offers {name!r}, but the core alone resolves a call's working directory and its "
            "project; answer host_base_cwd with the directory that calls start from, and remove "
            "the name (or make it private with a leading underscore if it serves something else)"
        )
    raise PluginRefused("cwd_override", source, reason)


def _is_reserved(name: str) -> bool:
    if name.startswith("_"):
        return False
    plain = name.lower().replace("_", "").removeprefix("host")
    return plain in {reserved.replace("_", "") for reserved in RESERVED_NAMES}


def _check_options(source: Source, name: str, options: dict[str, Any]) -> None:
    for option, why in _OPTIONS.items():
        if options.get(option):
            raise PluginRefused(
                "hook_option",
                source,
                f"marks {name!r} with {option!r}, which the contract does not have: {why}; use a "
                "bare @hookimpl on a function that carries the hook's own name",
            )


def _check_known(source: Source, name: str, specs: dict[str, tuple[str, ...]]) -> None:
    if name in specs:
        return
    import difflib

    near = difflib.get_close_matches(name, specs, n=1, cutoff=0.6)
    meant = f"did you mean {near[0]!r}? " if near else ""
    raise PluginRefused(
        "unknown_hook",
        source,
        f"implements {name!r}, which is no hook; {meant}the hooks are {', '.join(specs)}",
    )


def _check_signature(
    source: Source, name: str, function: Callable[..., Any], arguments: tuple[str, ...]
) -> None:
    shape = f"def {name}({', '.join(arguments)})"
    if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        raise PluginRefused(
            "wrong_signature", source, f"{name!r} is asynchronous; write a plain function: {shape}"
        )
    parameters = inspect.signature(function).parameters
    defaults = [key for key, item in parameters.items() if item.default is not item.empty]
    if defaults:
        raise PluginRefused(
            "argument_default",
            source,
            f"{name!r} gives {', '.join(defaults)} a default, which would hide a value that the "
            f"core passes (or not, by pluggy's version); write it without: {shape}",
        )
    plain = all(
        item.kind in (item.POSITIONAL_ONLY, item.POSITIONAL_OR_KEYWORD)
        for item in parameters.values()
    )
    if not plain or set(parameters) != set(arguments):
        hint = ""
        if next(iter(parameters), None) == "self":
            hint = "; a class needs static methods, or let the entry point name an instance"
        raise PluginRefused(
            "wrong_signature",
            source,
            f"{name!r} takes ({', '.join(map(str, parameters.values()))}), but the hook is "
            f"{shape}{hint}",
        )


def _check_complete(
    source: Source, names: list[str], marked: set[str], specs: dict[str, tuple[str, ...]]
) -> None:
    unmarked = [name for name in specs if name in names and name not in marked]
    if unmarked:
        raise PluginRefused(
            "unmarked_hook",
            source,
            f"has {', '.join(map(repr, unmarked))} without the mark, so it would never be asked; "
            "put @hookimpl (from hindnote import hookimpl) on the plain function",
        )
    missing = [name for name in REQUIRED if name not in marked]
    if missing:
        raise PluginRefused(
            "missing_hook",
            source,
            f"lacks {', '.join(missing)}; a host must answer {', '.join(REQUIRED)}",
        )
