"""Messages that the install commands share."""

from __future__ import annotations

import sys

from hindnote.core.cli.tree import report
from hindnote.core.install.lasting import LASTING, vanishing


def warn_of_vanishing(command: str) -> None:
    """Warn if the installed host now uses a Python that will be deleted.

    Args:
        command: The install command.
    """
    if (told := vanishing(sys.executable)) is not None:
        report(
            f"warning: {sys.executable} {told}. The host cannot run hindnote then: "
            f"{LASTING}, and run its `{command}`"
        )
