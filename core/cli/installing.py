"""What the commands that install into a host have to say alike."""

from __future__ import annotations

import sys

from hindnote.core.cli.tree import report
from hindnote.core.install.lasting import LASTING, vanishing


def warn_of_vanishing(command: str) -> None:
    """Say that the Python that was written down will vanish, if it will, and what lasts.

    Args:
        command: What installed.
    """
    if (told := vanishing(sys.executable)) is not None:
        report(
            f"warning: {sys.executable} {told}. The host cannot run hindnote then: "
            f"{LASTING}, and run its `{command}`"
        )
