"""The start of a process of our own, where nearly all time goes into imports."""

from __future__ import annotations

import gc
import os


def begin() -> None:
    """Prepare a process for its imports; called before pydantic is among them."""
    # pydantic would look for plugins of its own in every installed distribution.
    os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"
    # What is imported stays, and looking for garbage in it takes a tenth of the time.
    gc.disable()


def settle() -> None:
    """Collect garbage from here on, in a process that stays; what was imported is left out."""
    gc.freeze()
    gc.enable()
