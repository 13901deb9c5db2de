"""``hindnote install pi`` and ``hindnote uninstall pi``.

An installation is a copy of the extension in Pi's ``extensions`` folder, with a
manifest that says what was written. Nothing that hindnote did not write is touched,
and taking it away leaves Pi's folder as it was before.
"""

from __future__ import annotations

import os
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

import click

from hindnote.core.cli.tree import explained
from hindnote.hosts.pi.places import (
    MANIFEST,
    Manifest,
    Scope,
    digest,
    read_manifest,
    scopes,
    shipped,
)

_project = click.option(
    "--project", is_flag=True, help="For the project in this directory alone, in its .pi folder."
)
_dry_run = click.option("--dry-run", is_flag=True, help="Say what would be done, and do nothing.")


@click.command
@_project
@_dry_run
def install(project: bool, dry_run: bool) -> None:
    """Give Pi the notes and history tools."""
    here, other = reversed(scopes()) if project else scopes()
    _refuse_second(here, other)
    with explained():
        _Change(here, dry_run).install()


@click.command
@_project
@_dry_run
def uninstall(project: bool, dry_run: bool) -> None:
    """Take the extension away from Pi; notes stay."""
    here = scopes()[1 if project else 0]
    for folder in here.referenced():
        click.echo(f"left {folder}: Pi's settings name it; run: pi remove {folder}")
    with explained():
        _Change(here, dry_run).uninstall()


def _refuse_second(here: Scope, other: Scope) -> None:
    """Refuse to install where Pi would load two: the second one's tools would be left out."""
    for scope in (here, other):
        for folder in scope.referenced():
            raise click.ClickException(
                f"Pi's {scope.name} settings already load hindnote from {folder}; "
                f"run first: pi remove {folder}"
            )
    if read_manifest(other.extension) is not None:
        flag = " --project" if other.name == "project" else ""
        raise click.ClickException(
            f"hindnote is already installed in {other.extension}, and Pi would load both; "
            f"run first: hindnote uninstall pi{flag}"
        )


class _Change:
    """One change of one place: does it and says it, or only says it."""

    def __init__(self, scope: Scope, dry_run: bool) -> None:
        self._scope = scope
        self._folder = scope.extension
        self._dry_run = dry_run
        self._touched = False

    def install(self) -> None:
        new = shipped()
        old = self._installed()
        self._refuse_foreign(old, new)
        made = old.made if old else self._missing_folders()
        wanted = {name: [digest(data)] for name, data in new.items()}
        final = Manifest(sys.executable, version("hindnote"), wanted, made)
        for name in made:
            self._make(self._place(name))
        changed = [name for name in new if self._digest(name) not in wanted[name]]
        stale = [name for name in old.files if name not in new] if old else []
        if old and (changed or stale):
            # Whatever interrupts the update, each file is known for hindnote's own.
            both = {name: old.files.get(name, []) + wanted.get(name, []) for name in (*stale, *new)}
            self._write(
                MANIFEST, Manifest(old.python, old.version, both, made).encoded(), tell=False
            )
        elif not old:
            self._write(MANIFEST, final.encoded())
        for name in changed:
            self._write(name, new[name])
        for name in stale:
            self._remove(self._folder / name)
        if old and self._digest(MANIFEST) != digest(final.encoded()):
            self._write(MANIFEST, final.encoded())
        if not self._touched:
            click.echo(f"nothing to do: {self._folder} is current")
        elif not self._dry_run:
            click.echo("Pi loads it at its next start, or after /reload")

    def uninstall(self) -> None:
        old = self._installed()
        if old is None:
            click.echo(f"nothing to do: {self._folder} is not installed")
            return
        for name, digests in sorted(old.files.items()):
            found = self._digest(name)
            if found in digests:
                self._remove(self._folder / name)
            elif found is not None:
                click.echo(f"left {self._folder / name}: changed since it was installed")
        self._remove(self._folder / MANIFEST)
        for name in reversed(old.made):
            self._remove_folder(self._place(name))
        if self._folder.is_dir() and not self._dry_run:
            click.echo(f"left {self._folder}: it holds files that are not hindnote's")

    def _installed(self) -> Manifest | None:
        manifest = read_manifest(self._folder)
        if manifest is None and self._folder.exists() and any(self._folder.iterdir()):
            raise click.ClickException(
                f"{self._folder} is there and was not written by hindnote; move it away"
            )
        return manifest

    def _refuse_foreign(self, old: Manifest | None, new: dict[str, bytes]) -> None:
        """Refuse to write over a file that somebody else wrote or changed."""
        for name in sorted({*new, *(old.files if old else ())}):
            found = self._digest(name)
            known = (old.files.get(name, []) if old else []) + [digest(new.get(name, b""))]
            if found is not None and found not in known:
                raise click.ClickException(
                    f"{self._folder / name} was changed by hand; move it away and try again"
                )

    def _digest(self, name: str) -> str | None:
        try:
            return digest((self._folder / name).read_bytes())
        except FileNotFoundError:
            return None

    def _missing_folders(self) -> list[str]:
        """Return the folders that have to be made, outermost first."""
        above = [self._folder, *self._folder.parents]
        missing = [folder for folder in above if not folder.exists()]
        return [os.path.relpath(folder, self._scope.folder) for folder in reversed(missing)]

    def _place(self, name: str) -> Path:
        """Return a folder that the manifest names; some lie above Pi's own."""
        return Path(os.path.normpath(self._scope.folder / name))

    def _say(self, done: str, would: str, path: Path) -> None:
        self._touched = True
        click.echo(f"{would if self._dry_run else done} {path}")

    def _make(self, folder: Path) -> None:
        if not folder.exists():
            if not self._dry_run:
                folder.mkdir()
            self._say("made", "would make", folder)

    def _write(self, name: str, data: bytes, *, tell: bool = True) -> None:
        path = self._folder / name
        if not self._dry_run:
            self._store(path, data)
        if tell:
            self._say("wrote", "would write", path)

    def _store(self, path: Path, data: bytes) -> None:
        with tempfile.NamedTemporaryFile(dir=self._folder, prefix=".", delete=False) as file:
            file.write(data)
        temporary = Path(file.name)
        temporary.chmod(0o644)
        temporary.replace(path)

    def _remove(self, path: Path) -> None:
        if path.exists():
            if not self._dry_run:
                path.unlink()
            self._say("removed", "would remove", path)

    def _remove_folder(self, folder: Path) -> None:
        if self._dry_run:
            self._say("", "would remove, if it is empty then,", folder)
        elif folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()
            self._say("removed", "", folder)
