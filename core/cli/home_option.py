"""The option ``--home``: a folder, or the address of a database."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from hindnote.core.places.database_home import DatabaseHome, is_address


class HomeType(click.Path):
    """A notes home: the path of a folder, or the address of a database."""

    name = "home"

    def __init__(self) -> None:
        super().__init__(file_okay=False, path_type=Path)

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return a path, or a database for an address."""
        if isinstance(value, str) and is_address(value):
            return DatabaseHome(value)
        return super().convert(value, param, ctx)
