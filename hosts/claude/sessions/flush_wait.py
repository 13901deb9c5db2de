"""Wait until Claude Code has written the current tool call to the transcript."""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING

from hindnote.core.history.files import open_file

if TYPE_CHECKING:
    from pathlib import Path

LIMIT_SECONDS = 0.3
"""Maximum wait. In the end-to-end tests each call was written within 0.07 seconds."""

_POLL_SECONDS = 0.005

_TAIL = 1 << 20
"""Number of bytes at the end of a file that are searched for the current call."""


def wait_for_call(file: Path, call_id: str) -> None:
    """Wait until a transcript contains a running call, or the time limit is reached.

    Claude Code writes rows, and the file of a new session, shortly after acting on them. A reader
    that does not wait misses the call itself and what led to it.

    Args:
        file: The transcript; it need not exist yet.
        call_id: The call's id.
    """
    wanted = json.dumps(call_id)[1:-1].encode()
    deadline = time.monotonic() + LIMIT_SECONDS
    seen = 0
    while True:
        try:
            handle = open_file(file)
        except OSError:
            pass  # not there yet
        else:
            with os.fdopen(handle, "rb") as stream:
                size = os.fstat(handle).st_size
                stream.seek(max(seen - len(wanted), size - _TAIL, 0))
                text = stream.read()
                seen = stream.tell()
            if wanted in text:
                return
        if time.monotonic() >= deadline:
            return
        time.sleep(_POLL_SECONDS)
