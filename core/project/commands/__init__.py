"""``hindnote todo …`` and ``hindnote docs …``: the project tools for people and scripts."""

from hindnote.core.project.commands.docs import docs
from hindnote.core.project.commands.todo import todo

__all__ = ["docs", "todo"]
