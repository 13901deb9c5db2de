"""``hindnote install claude`` and ``hindnote uninstall claude``.

The plugin is installed in ``<config dir>/skills/hindnote``, from where Claude Code loads it at
each start, or in a local marketplace from which Claude Code installs it.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import click
import platformdirs

from hindnote.core.cli.installing import warn_of_vanishing
from hindnote.core.cli.tree import explained, report, tell
from hindnote.core.install.lock import Busy, alone
from hindnote.core.install.managed_folder import FOREIGN, ManagedFolder, NotOurs
from hindnote.core.install.programs import dotted, told_version
from hindnote.core.install.variables import NoWholePath, check_whole_paths
from hindnote.core.system.programs import outside_project
from hindnote.hosts.claude.paths import usual_config_dir
from hindnote.hosts.claude.switch import MARKETPLACE_PLUGIN, SKILLS_PLUGIN, switched_off

NEEDED = (2, 1, 326)
"""The oldest Claude Code whose plugins can answer a call at `tool.run`."""

MOD = Path(__file__).parent / "mod"
SHIPPED = (".claude-plugin/plugin.json", "LICENSE", "README.md", "hooks/*.ts", "hooks/hooks.json")
"""Patterns of the mod's files that are installed: all except its tests."""

_PLUGIN_FILES = (
    r"\.claude-plugin/plugin\.json|LICENSE|README\.md|hooks/[a-z][a-z0-9-]*\.ts|hooks/hooks\.json"
)
PLUGIN_FILES = re.compile(_PLUGIN_FILES)
"""Matches the name of each file of the plugin, in any version of hindnote."""

MARKETPLACE_FILES = re.compile(rf"hindnote/(?:{_PLUGIN_FILES})|\.claude-plugin/marketplace\.json")
"""Matches the name of each file of the marketplace, in any version of hindnote."""

_dry_run = click.option("--dry-run", is_flag=True, help="Say what would be done, and do nothing.")


@click.command(short_help="Put the plugin into Claude Code.")
@click.option(
    "--marketplace",
    is_flag=True,
    help="Install through a local marketplace, as Claude Code installs other plugins.",
)
@_dry_run
def install(marketplace: bool, dry_run: bool) -> None:
    """Put the plugin into Claude Code, for all sessions started from now on."""
    with explained(NoWholePath):
        _check_variables()
    executable = _usable_claude(required=marketplace)
    here, there = skills_place(dry_run), marketplace_place(dry_run)
    if marketplace:
        here, there = there, here
    with explained(NotOurs, Busy), alone():
        if there.written() is not None:
            raise NotOurs(
                f"hindnote is installed in {there.folder} already, and Claude Code would load it "
                "twice; run `hindnote uninstall claude` first"
            )
        files = marketplace_files() if marketplace else plugin_files()
        touched = tell(here.put(files))
        if marketplace and executable and (touched or not _has_joined(executable)):
            _join_marketplace(executable, here.folder, dry_run)
            touched = True
    off = switched_off(MARKETPLACE_PLUGIN if marketplace else SKILLS_PLUGIN)
    if off and off.named and not (marketplace and dry_run):
        report(f"{off.plugin} {off.told}; {off.advice}")
    elif not touched:
        report(f"nothing to do: {here.folder} is current")
    elif not dry_run:
        report("Claude Code loads it at its next start")
    warn_of_vanishing("hindnote install claude")


@click.command()
@_dry_run
def uninstall(dry_run: bool) -> None:
    """Take the plugin away from Claude Code again; notes stay."""
    with explained(NoWholePath):
        _check_variables()
    places = skills_place(dry_run), marketplace_place(dry_run)
    with explained(NotOurs, Busy), alone():
        # Both are read first, so that a damaged one is reported before anything is removed.
        _, joined = [place.written() for place in places]
        if joined is not None:
            _leave_marketplace(dry_run)
        found = [place for place in places if tell(place.take_away())]
        for place in places:
            if not found and place.is_taken():
                raise NotOurs(f"{place.folder} {FOREIGN}; move it away")
    if not found:
        report(f"nothing to do: there is no {places[0].folder} of hindnote's")


# -- places and files ------------------------------------------------------------


def _check_variables() -> None:
    # Claude Code 2.1.332 does not expand ~ but uses it as a folder name.
    check_whole_paths("CLAUDE_CONFIG_DIR", "XDG_DATA_HOME", "HOME", tilde=False)
    check_whole_paths("HINDNOTE_HOME", tilde=True)


def skills_place(dry_run: bool = False) -> ManagedFolder:
    """Return the folder from which Claude Code loads plugins by itself."""
    return ManagedFolder(usual_config_dir() / "skills" / "hindnote", PLUGIN_FILES, dry_run)


def marketplace_place(dry_run: bool = False) -> ManagedFolder:
    """Return the folder of the local marketplace."""
    folder = platformdirs.user_data_path("hindnote") / "claude-marketplace"
    return ManagedFolder(folder, MARKETPLACE_FILES, dry_run)


def plugin_files() -> dict[str, bytes]:
    """Return the plugin's files, configured for the Python that runs this code."""
    paths = sorted(path for pattern in SHIPPED for path in MOD.glob(pattern))
    files = {path.relative_to(MOD).as_posix(): path.read_bytes() for path in paths}
    files["hooks/runtime.ts"] = runtime(sys.executable)
    return files


def runtime(python: str) -> bytes:
    """Return the module that contains the path of the Python to run."""
    template = (MOD / "hooks" / "runtime.ts").read_text("utf-8")
    return re.sub(r"'python3'", lambda _: json.dumps(python), template).encode()


def marketplace_files() -> dict[str, bytes]:
    """Return the files of a marketplace that contains the plugin."""
    manifest = json.loads((MOD / ".claude-plugin" / "plugin.json").read_text("utf-8"))
    entry = {"name": "hindnote", "source": "./hindnote", "description": manifest["description"]}
    marketplace = {
        "name": "hindnote",
        "owner": manifest["author"],
        "metadata": {"description": "hindnote, from the Python package installed here"},
        "plugins": [entry],
    }
    files = {f"hindnote/{name}": data for name, data in plugin_files().items()}
    files[".claude-plugin/marketplace.json"] = json.dumps(marketplace, indent=2).encode() + b"\n"
    return files


# -- Claude Code itself --------------------------------------------------------


def claude_version(executable: str) -> tuple[int, ...] | None:
    """Return Claude Code's version; None when it cannot be determined."""
    output, _ = told_version(executable) or ("", "")
    found = re.match(r"(\d+)\.(\d+)\.(\d+)", output)
    return tuple(map(int, found.groups())) if found else None


def _usable_claude(*, required: bool) -> str | None:
    """Return the Claude Code on the PATH, refusing one that is too old for the plugin."""
    executable = outside_project("claude")
    if executable is None:
        if required:
            raise click.ClickException("there is no claude on the PATH, and --marketplace needs it")
        report(
            f"there is no claude on the PATH; hindnote needs Claude Code {dotted(NEEDED)} or newer"
        )
        return None
    version = claude_version(executable)
    if version is None:
        report(
            f"warning: {executable} --version does not say which version it is; hindnote needs "
            f"Claude Code {dotted(NEEDED)} or newer"
        )
    elif version < NEEDED:
        raise click.ClickException(
            f"{executable} is Claude Code {dotted(version)}; hindnote needs {dotted(NEEDED)} or "
            "newer, whose plugins can have hooks modules (`claude update` brings the newest)"
        )
    return executable


def _run(dry_run: bool, *command: str) -> str | None:
    """Run a command of Claude Code; return an error message, or None on success."""
    line = " ".join(command)
    if dry_run:
        report(f"would run {line}")
        return None
    report(f"running {line}")
    try:
        done = _ended(*command)
    except subprocess.TimeoutExpired:
        return f"{line} did not end"
    return f"{line} failed: {(done.stderr or done.stdout).strip()}" if done.returncode else None


def _ended(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def _has_joined(executable: str) -> bool:
    """Return whether Claude Code lists the plugin as enabled; False when this is unknown."""
    try:
        listed = json.loads(_ended(executable, "plugin", "list", "--json").stdout)
        return any(one["id"] == MARKETPLACE_PLUGIN and one["enabled"] is True for one in listed)
    except (subprocess.TimeoutExpired, ValueError, TypeError, KeyError):
        return False


def _join_marketplace(executable: str, folder: Path, dry_run: bool) -> None:
    """Let Claude Code install the plugin, also after an update or when it was disabled."""
    for command in (("marketplace", "add", str(folder)), ("install", MARKETPLACE_PLUGIN)):
        if problem := _run(dry_run, executable, "plugin", *command):
            raise click.ClickException(problem)


def _leave_marketplace(dry_run: bool) -> None:
    """Remove the plugin from Claude Code's settings; a person may have done so already."""
    executable = outside_project("claude")
    if executable is None:
        report(f"there is no claude on the PATH to take {MARKETPLACE_PLUGIN} out of its settings")
        return
    for command in (("uninstall", MARKETPLACE_PLUGIN), ("marketplace", "remove", "hindnote")):
        if problem := _run(dry_run, executable, "plugin", *command):
            report(problem)
