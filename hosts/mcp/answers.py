"""Carry out calls and return the core's answers as results of the protocol.

A refusal is a result with ``isError`` and ``{error, code}`` as its structured content. Arguments
that do not match the input schema give a result with ``isError`` and only a text (SEP-1303), so
that the model reads what is wrong. A failure of the host is a protocol error; a crash's text stays
in the log.

Importing this module imports everything that calls need.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

from hindnote.core.call import Dispatcher, HostFailure
from hindnote.core.errors import ArgumentError
from hindnote.core.plugins.hosts import Hosts
from hindnote.core.system import process
from hindnote.core.tools.registry import registry
from hindnote.hosts.mcp import plugin
from hindnote.hosts.mcp.calls import HOST, Caller, Settings, history_call, notes_call
from hindnote.hosts.mcp.jobs import UNEXPECTED
from hindnote.hosts.mcp.versions import tool_result
from hindnote.hosts.mcp.wire import INTERNAL_ERROR, Failed

log = logging.getLogger("hindnote.mcp")


class Answers:
    """Carries out calls.

    Args:
        settings: The options with which the server was started.
        hosts: The installed hosts.
    """

    def __init__(self, settings: Settings, hosts: Hosts) -> None:
        self._settings = settings
        self._hosts = hosts
        self._dispatcher = Dispatcher(hosts, settings.home)

    def call(
        self, name: str, arguments: dict[str, Any], by: Caller, directory: Path, version: str
    ) -> dict[str, Any]:
        """Return one call's result, as text and structured content.

        Raises:
            Failed: The call could not be carried out.
        """
        try:
            if name not in registry():
                return self._project(name, arguments, by, directory, version)
            if registry()[name].family == "history":
                call = history_call(self._settings, by, directory, self._hosts)
            else:
                call = notes_call(self._settings, by, directory)
            answer = self._dispatcher.call(call, name, arguments)
        except ArgumentError as error:
            return tool_result(version, str(error), None, is_error=True)
        except HostFailure as error:
            log.exception("%s failed", name)
            raise Failed(INTERNAL_ERROR, str(error)) from None
        except Exception:
            # The last handler: the traceback of a crash goes to the log, and the model only learns
            # that the call failed.
            log.exception("%s crashed", name)
            raise UNEXPECTED from None
        return tool_result(version, answer.text, dict(answer.result), answer.is_error)

    def _project(
        self, name: str, arguments: dict[str, Any], by: Caller, directory: Path, version: str
    ) -> dict[str, Any]:
        call = notes_call(self._settings, by, directory)
        answer = self._dispatcher.project(call, name, arguments)
        return tool_result(version, answer.text, answer.dto, answer.is_error)


def load(settings: Settings) -> Answers:
    """Return an object that carries out calls, after importing everything that calls need."""
    logging.basicConfig(format="%(levelname)s %(name)s: %(message)s")
    try:
        list(registry().values())
        return Answers(settings, Hosts.load({HOST: plugin}))
    finally:
        process.settle()
