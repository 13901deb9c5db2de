"""The entry script: ``logbook SESSION OPERATION [JSON]`` carries out one call.

A real agent keeps one dispatcher for its whole life and passes ``Answer.text`` to
its model and ``Answer.result`` to scripts.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from hindnote.hosting import (
    ArgumentError,
    Dispatcher,
    HostCall,
    HostFailure,
    Hosts,
    notes_home,
)
from logbook import plugin


def main() -> int:
    """Print the answer to one call; 0 success, 1 refusal, 2 failure."""
    if not 3 <= len(sys.argv) <= 4:
        print("usage: logbook SESSION OPERATION [JSON]", file=sys.stderr)
        return 2
    session, operation, arguments = (*sys.argv[1:], "{}")[:3]
    dispatcher = Dispatcher(Hosts.load({plugin.SLUG: plugin}), notes_home())
    call = HostCall(host=plugin.SLUG, session_file=Path(session).absolute(), cwd=Path.cwd())
    try:
        answer = dispatcher.call(call, operation, json.loads(arguments))
    except (ArgumentError, HostFailure, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    print(answer.text)
    return 1 if answer.is_error else 0


if __name__ == "__main__":
    sys.exit(main())
