"""Find the notes home, who set it, and whether it may be used."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from hindnote.core.errors import HostFailure, Refused
from hindnote.core.places.database_home import DatabaseHome, is_address, require_client
from hindnote.core.places.person import person_home
from hindnote.core.text.messages import quote

# What only some refusals need is imported late: hosts look for the home before their first call.

HOME_VARIABLE = "HINDNOTE_HOME"
"""Environment variable with the path of another notes home."""

USUAL = Path(".agents/notes")
"""The default notes home, relative to the person's home directory."""

_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/")

Asker: TypeAlias = Literal["caller", "HINDNOTE_HOME", "HOME"]
"""What set a home: ``caller`` is the person (``--home``) or the calling program; else a
variable."""


class NotesHome(NamedTuple):
    """A notes home, as requested."""

    folder: Path
    """The folder; absolute unless ``problem`` is set."""

    by: Asker = "caller"
    problem: str = ""
    """Why the requested folder is invalid, as a whole message; empty when it is valid."""

    database: DatabaseHome | None = None
    """The database, for a home that is no folder; ``folder`` then has no meaning."""

    @property
    def place(self) -> Path | DatabaseHome:
        """The folder or the database."""
        return self.folder if self.database is None else self.database

    def __str__(self) -> str:
        """Return the folder, the name of the database, or the problem."""
        return self.problem or str(self.place)

    def admit(self, base: Path) -> None:
        """Check that a call may use this home. Every call on notes does this.

        A variable may be set by files of a project (a host that trusts a repository takes
        environment variables from it). So a home inside the current project is only used after a
        person confirmed it with ``hindnote home trust``.

        Args:
            base: The host's base directory, absolute; it need not exist.

        Raises:
            Refused: ``outside_home``; the message names what set the home, and what to do.
        """
        if self.by == "caller" and not self.problem:
            return
        if self.problem:
            raise Refused("outside_home", self.problem)
        if self.database is not None:
            self._admit_database(self.database)
            return
        tree = self.project(base)
        if tree is None:
            return
        from hindnote.core.places.trust import UntrustworthyError, trusted_homes

        problem = ""
        try:
            if self.folder.resolve() in trusted_homes():
                return
        except (UntrustworthyError, OSError, RuntimeError) as error:
            problem = f" ({error})"
        raise Refused(
            "outside_home",
            f"{self.by} puts the notes home at {quote(str(self.folder))}, inside the project "
            f"{quote(str(tree))}, which may have set it; nobody has confirmed it. A person can, in "
            "a terminal and outside of any project: "
            f"hindnote home trust {shlex.quote(str(self.folder))}{problem}",
        )

    def _admit_database(self, database: DatabaseHome) -> None:
        """Refuse a database that no person has confirmed, with all settings that lead to it.

        Raises:
            Refused: ``outside_home``, ``io_error``.
        """
        require_client()
        from hindnote.core.database.settings import settings_of
        from hindnote.core.places.trust import UntrustworthyError, trusted

        settings, problem = settings_of(database.url), ""
        try:
            if settings in trusted().databases:
                return
        except UntrustworthyError as error:
            problem = f" ({error})"
        raise Refused(
            "outside_home",
            f"{self.by} puts the notes home into the {database}, which a project may have set; "
            "nobody has confirmed it with its present settings (its address, PG variables, "
            "service). A person can, in a terminal and outside of any project: hindnote home "
            f'trust "${HOME_VARIABLE}"{problem}',
        )

    def project(self, base: Path) -> Path | None:
        """Return the project that may have chosen this home; None when no project can have."""
        if self.by == "caller":
            return None
        person = person_home()
        if self.by == "HOME" and person is not None and self.folder == person / USUAL:
            return None
        from hindnote.core.places.project import lexical, project_trees

        try:
            places = {lexical(self.folder), self.folder.resolve()}
            trees = project_trees(base)
        except (OSError, RuntimeError, ValueError) as error:
            raise Refused("outside_home", f"the notes home cannot be looked at: {error}") from error
        inside = [tree for tree in trees if any(place.is_relative_to(tree) for place in places)]
        return inside[0] if inside else None


def notes_home(override: Path | DatabaseHome | None = None) -> NotesHome:
    """Return the notes home; it need not exist, since the first write creates it.

    The argument takes precedence, then the variable ``HINDNOTE_HOME`` unless it is empty, then
    ``~/.agents/notes``. The variable must name an absolute folder, where a leading ``~/`` means the
    home directory, or a database: ``postgresql://…``.

    Raises:
        HostFailure: The home directory cannot be determined.
    """
    if isinstance(override, DatabaseHome):
        return NotesHome(Path(), "caller", database=override)
    told = os.environ.get(HOME_VARIABLE)
    by: Asker = "caller" if override else "HINDNOTE_HOME" if told else "HOME"
    named = str(override) if override else told or f"~/{USUAL}"
    if url := _URL.match(named):
        if is_address(named) and not override:
            return NotesHome(Path(), by, database=DatabaseHome(named))
        # Not shown, since it may contain a password.
        scheme = url[1].lower()
        return NotesHome(Path(), by, f"{_who(by)} names a {scheme} address; {_ADVICE}")
    try:
        folder = Path(named).expanduser()
        if override:
            folder = folder.absolute()
    except (RuntimeError, OSError) as error:
        raise HostFailure(
            f"cannot tell where the notes lie ({error}); set {HOME_VARIABLE} to a directory"
        ) from error
    if not folder.is_absolute() or "\0" in named:
        told = f"{_who(by)} is {quote(named)}, which is no absolute path; {_ADVICE}"
        return NotesHome(Path(), by, told)
    return NotesHome(folder, by)


def as_home(home: Path | NotesHome) -> NotesHome:
    """Return a home; a plain path counts as set by the caller."""
    return home if isinstance(home, NotesHome) else NotesHome(home)


_ADVICE = "the notes home is a folder, named by its whole path; set it to one, or not at all"


def _who(by: Asker) -> str:
    return "--home" if by == "caller" else by
