"""Chromium for tests: driven over a pair of pipes, through the DevTools protocol."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--remote-debugging-pipe", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--disable-dev-shm-usage",
]  # fmt: skip
PLACE = "import os, sys; os.dup2(int(sys.argv[1]), 3); os.dup2(int(sys.argv[2]), 4); "
PLACE += "os.execv(sys.argv[3], sys.argv[3:])"
SECONDS = 60


class Browser:
    """Chromium, driven over a pair of pipes."""

    def __init__(self, profile: Path) -> None:
        assert CHROMIUM is not None
        # High numbers, so that putting them in the places where Chromium looks overwrites none.
        ends = (*os.pipe(), *os.pipe())
        theirs_in, self._out, self._in, theirs_out = (
            fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in ends
        )
        for end in ends:
            os.close(end)

        # Chromium reads commands from 3 and writes answers to 4.
        place = [sys.executable, "-c", PLACE, str(theirs_in), str(theirs_out)]
        self._process = subprocess.Popen(
            [*place, CHROMIUM, *FLAGS, f"--user-data-dir={profile}", "about:blank"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(theirs_in, theirs_out),
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self._buffer = b""
        self._number = 0
        self.events: list[dict[str, Any]] = []
        target = self.ask("Target.createTarget", {"url": "about:blank"})["targetId"]
        attached = {"targetId": target, "flatten": True}
        self._session: str | None = None
        self._session = self.ask("Target.attachToTarget", attached)["sessionId"]
        for domain in ("Page", "Network", "Log", "Runtime"):
            self.ask(f"{domain}.enable")

    def close(self) -> None:
        """End it."""
        self._process.kill()
        self._process.wait()
        os.close(self._in)
        os.close(self._out)

    def ask(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return the answer to a command; events that come first are kept."""
        self._number += 1
        asked: dict[str, Any] = {"id": self._number, "method": method, "params": params or {}}
        if session := getattr(self, "_session", None):
            asked["sessionId"] = session
        os.write(self._out, json.dumps(asked).encode() + b"\0")
        while True:
            told = self._next()
            if told.get("id") == self._number:
                assert "error" not in told, told
                answer: dict[str, Any] = told["result"]
                return answer
            self.events.append(told)

    def _next(self) -> dict[str, Any]:
        deadline = time.monotonic() + SECONDS
        while b"\0" not in self._buffer:
            readable, _, _ = select.select([self._in], [], [], deadline - time.monotonic())
            assert readable, "the browser does not answer"
            got = os.read(self._in, 1 << 20)
            assert got, "the browser has ended"
            self._buffer += got
        told, _, self._buffer = self._buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(told)
        return message

    def resize(self, width: int, height: int = 800) -> None:
        """Make the window so wide and high, in pixels."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.ask("Emulation.setDeviceMetricsOverride", size)

    def show(self, page: Path | str, scheme: str = "light") -> None:
        """Load a page, a file or an address, and wait until all of it is there."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.ask("Emulation.setEmulatedMedia", {"features": features})
        self.events.clear()
        self.ask("Page.navigate", {"url": page if isinstance(page, str) else page.as_uri()})
        self.wait_for("Page.loadEventFired")

    def wait_for(self, method: str) -> None:
        """Wait for an event that has not come since the last page was asked for."""
        while not any(event["method"] == method for event in self.events):
            self.events.append(self._next())

    def until(self, expression: str) -> Any:
        """Wait until an expression is true on the page, and return what it is."""
        deadline = time.monotonic() + SECONDS
        while not (found := self.value(expression)):
            assert time.monotonic() < deadline, f"it never came to be: {expression}"
            time.sleep(0.02)
        return found

    def press(self, key: str) -> None:
        """Press and release a key."""
        for kind in ("keyDown", "keyUp"):
            typed: dict[str, Any] = {"text": key} if kind == "keyDown" and len(key) == 1 else {}
            if key == "Escape":
                typed["windowsVirtualKeyCode"] = 27
            self.ask("Input.dispatchKeyEvent", {"type": kind, "key": key, **typed})

    def picture(self, file: Path) -> None:
        """Save what is seen now as a PNG."""
        data = self.ask("Page.captureScreenshot", {"format": "png"})["data"]
        file.write_bytes(base64.b64decode(data))

    def value(self, expression: str) -> Any:
        """Return what an expression is on the page."""
        asked = {"expression": expression, "returnByValue": True, "awaitPromise": True}
        return self.ask("Runtime.evaluate", asked)["result"].get("value")

    def requested(self) -> list[str]:
        """Return what the page has loaded."""
        return [
            event["params"]["request"]["url"]
            for event in self.events
            if event["method"] == "Network.requestWillBeSent"
        ]

    def complaints(self) -> list[dict[str, Any]]:
        """Return what the console has been told."""
        said = ("Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown")
        said += ("Page.javascriptDialogOpening",)
        return [event for event in self.events if event["method"] in said]
