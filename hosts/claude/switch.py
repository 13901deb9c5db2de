"""Check whether Claude Code's settings disable the plugin.

Observed with Claude Code 2.1.332: ``/plugin`` and ``claude plugin disable`` write
``"enabledPlugins": {"<plugin>": false}`` into the settings of one scope. If several scopes name
the plugin, ``local`` takes precedence over ``project``, and that over ``user``. If none does, a
plugin in the ``skills`` folder is enabled and one from a marketplace is disabled.

The settings of the machine's administrator, ``managed-settings.json`` and then the files in
``managed-settings.d`` by name, take precedence over all of them. A plugin in the ``skills`` folder
is not loaded if they name a plugin with the same name, from any source, enabled or not.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from hindnote.core.fs.bounded import read_bounded
from hindnote.core.system.process import process_directory
from hindnote.core.system.shortage import is_shortage
from hindnote.hosts.claude.paths import usual_config_dir

SKILLS_PLUGIN = "hindnote@skills-dir"
"""Claude Code's id of the plugin when it is loaded from the ``skills`` folder."""

MARKETPLACE_PLUGIN = "hindnote@hindnote"
"""Claude Code's id of the plugin when it is installed from our marketplace."""


MANAGED = "managed"

_MANAGED_FOLDERS = {
    "darwin": "/Library/Application Support/ClaudeCode",
    "win32": "C:\\Program Files\\ClaudeCode",
}


@dataclass(frozen=True)
class SwitchedOff:
    """A plugin that Claude Code does not load because of its settings."""

    plugin: str
    scope: str
    """``user``, ``project``, ``local`` or ``managed``: Claude Code's names of its settings."""

    settings: Path
    """The settings file of that scope."""

    named: bool = True
    """Whether the file names the plugin; for a marketplace plugin it need not."""

    @property
    def told(self) -> str:
        """The description for a message."""
        off = "is switched off in" if self.named else "is not switched on in"
        if self.scope == MANAGED and self.plugin == SKILLS_PLUGIN:
            off = "is named like a plugin in"
        return f"{off} {self.settings}, so Claude Code does not load it"

    @property
    def advice(self) -> str:
        """How to enable the plugin again."""
        if self.scope == MANAGED:
            return "whoever administers this machine can change that file"
        return f"`claude plugin enable {self.plugin} --scope {self.scope}` switches it on"


def switched_off(plugin: str) -> SwitchedOff | None:
    """Return what disables a plugin in the current directory; None when it is enabled."""
    managed = _managed(plugin)
    if managed is not None:
        is_on, settings = managed
        return None if is_on else SwitchedOff(plugin, MANAGED, settings)
    user = "user", usual_config_dir() / "settings.json"
    for scope, settings in (*_project_settings(), user):
        enabled = _enabled(settings).get(plugin)
        if isinstance(enabled, bool):
            return None if enabled else SwitchedOff(plugin, scope, settings)
    return None if plugin == SKILLS_PLUGIN else SwitchedOff(plugin, *user, named=False)


def managed_folder() -> Path:
    """Return the folder of the administrator's settings."""
    return Path(_MANAGED_FOLDERS.get(sys.platform, "/etc/claude-code"))


def _managed(plugin: str) -> tuple[bool, Path] | None:
    """Return whether managed settings enable a plugin, and the file that decides; None if none."""
    name, _, _ = plugin.partition("@")
    found = None
    for settings in _managed_files():
        enabled = _enabled(settings)
        if plugin == SKILLS_PLUGIN:
            if any(key.partition("@")[0] == name for key in enabled):
                return False, settings
        elif isinstance(enabled.get(plugin), bool):
            found = enabled[plugin] is True, settings
    return found


def _managed_files() -> list[Path]:
    """Return the managed settings files, in ascending precedence."""
    folder = managed_folder()
    parts = (folder / "managed-settings.d").glob("[!.]*.json")
    return [folder / "managed-settings.json", *sorted(parts)]


def _project_settings() -> Iterator[tuple[str, Path]]:
    """Yield the scopes and settings files of the current directory, in descending precedence."""
    folder = process_directory() / ".claude"
    yield "local", folder / "settings.local.json"
    yield "project", folder / "settings.json"


def _enabled(settings: Path) -> dict[str, object]:
    """Return ``enabledPlugins`` of a settings file; empty when the file cannot be read."""
    try:
        enabled = json.loads(read_bounded(settings))["enabledPlugins"]
    except (OSError, ValueError, RecursionError, KeyError, TypeError) as error:
        if is_shortage(error):
            raise
        return {}
    return enabled if isinstance(enabled, dict) else {}
