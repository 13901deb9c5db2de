"""The loaded host plugins, and the rules that one must keep to be loaded."""

from hindnote.core.plugins.hosts import Hosts
from hindnote.core.plugins.loading import HostReport

__all__ = ["HostReport", "Hosts"]
