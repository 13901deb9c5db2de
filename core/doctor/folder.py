"""Check a folder that an installation wrote into a host's directory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hindnote.core.doctor.findings import Finding
from hindnote.core.install.managed_folder import FOREIGN, ManagedFolder


def examine_foreign(place: ManagedFolder, command: str) -> Finding:
    """Return the finding for a folder in hindnote's place that hindnote did not write.

    Args:
        place: The folder.
        command: The command that installs there.
    """
    advice = f"move it away; `{command}` installs hindnote's"
    return Finding("error", str(place.folder), f"{FOREIGN}; the host may load it", advice)


def examine_folder(
    place: ManagedFolder, current: Mapping[str, bytes] | None, command: str
) -> Iterator[Finding]:
    """Check for files that are missing, changed by hand, or from another version of hindnote.

    Each problem is reported separately: an old installation may also have been changed.

    Args:
        place: A folder that has a manifest.
        current: What this hindnote would write there; None when the folder was written by another
            Python's hindnote, and so is not compared.
        command: The command that installs there.
    """
    subject, changed = str(place.folder), place.changed()
    names = {path: path.relative_to(place.folder).as_posix() for path in changed}
    missing = [names[path] for path in changed if not path.exists()]
    edited = [names[path] for path in changed if path.exists()]
    again = f"run `{command}` again"
    if missing:
        yield Finding("error", subject, f"lacks {', '.join(missing)}", again)
    if edited:
        told = f"was changed by hand: {', '.join(edited)}"
        yield Finding("warning", subject, told, f"keep it, or move the folder away and {again}")
    if current is not None and not place.wrote(current):
        advice = f"move the changed files away, then {again}" if edited else again
        told = "was written by another version of hindnote than the one that runs this"
        yield Finding("error", subject, told, advice)
