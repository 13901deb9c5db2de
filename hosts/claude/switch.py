"""Whether Claude Code's settings have the plugin switched off.

Seen with Claude Code 2.1.332: ``/plugin`` and ``claude plugin disable`` write
``"enabledPlugins": {"<plugin>": false}`` into the settings of one scope. Of several scopes that
name the plugin, ``local`` goes before ``project`` and that before ``user``. Without any, a
plugin of the ``skills`` folder is on and one of a marketplace is off.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from hindnote.core.fs.bounded import read_bounded
from hindnote.core.system.process import process_directory
from hindnote.core.system.shortage import is_shortage
from hindnote.hosts.claude.paths import usual_config_dir

SKILLS_PLUGIN = "hindnote@skills-dir"
"""The plugin as Claude Code names it when it loads it from the ``skills`` folder."""

MARKETPLACE_PLUGIN = "hindnote@hindnote"
"""The plugin as Claude Code names it when it comes from our marketplace."""


@dataclass(frozen=True)
class SwitchedOff:
    """A plugin that Claude Code does not load, because of its settings."""

    plugin: str
    scope: str
    """``user``, ``project`` or ``local``, as Claude Code calls its settings."""

    settings: Path
    """The file of that scope."""

    named: bool = True
    """Whether the file names the plugin; it need not name one of a marketplace."""

    @property
    def told(self) -> str:
        """What is said of it."""
        off = "is switched off in" if self.named else "is not switched on in"
        return f"{off} {self.settings}, so Claude Code does not load it"

    @property
    def advice(self) -> str:
        """What switches it on again."""
        return f"`claude plugin enable {self.plugin} --scope {self.scope}` switches it on"


def switched_off(plugin: str) -> SwitchedOff | None:
    """Return what switches a plugin off in the current directory, None when it is on."""
    user = "user", usual_config_dir() / "settings.json"
    for scope, settings in (*_project_settings(), user):
        enabled = _enabled(settings).get(plugin)
        if isinstance(enabled, bool):
            return None if enabled else SwitchedOff(plugin, scope, settings)
    return None if plugin == SKILLS_PLUGIN else SwitchedOff(plugin, *user, named=False)


def _project_settings() -> Iterator[tuple[str, Path]]:
    """Yield the scopes and settings files of the current directory, the stronger one first."""
    folder = process_directory() / ".claude"
    yield "local", folder / "settings.local.json"
    yield "project", folder / "settings.json"


def _enabled(settings: Path) -> dict[str, object]:
    """Return ``enabledPlugins`` of a settings file; empty when it cannot be read."""
    try:
        enabled = json.loads(read_bounded(settings))["enabledPlugins"]
    except (OSError, ValueError, RecursionError, KeyError, TypeError) as error:
        if is_shortage(error):
            raise
        return {}
    return enabled if isinstance(enabled, dict) else {}
