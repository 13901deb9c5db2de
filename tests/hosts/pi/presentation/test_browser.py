"""The pages in a real browser: nothing runs, nothing is loaded, nothing sticks out."""

from __future__ import annotations

import fcntl
import json
import os
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pi_sessions import Writer, call

from hindnote.core.presentation.collect import page_of
from hindnote.core.presentation.html import document
from hindnote.hosts.pi.sessions.projection import Sessions

DATA = Path(__file__).parents[3] / "data/pi"
FILES = sorted(DATA.glob("*.jsonl"))
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--remote-debugging-pipe", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--disable-dev-shm-usage",
]  # fmt: skip
PLACE = "import os, sys; os.dup2(int(sys.argv[1]), 3); os.dup2(int(sys.argv[2]), 4); "
PLACE += "os.execv(sys.argv[3], sys.argv[3:])"
SECONDS = 60

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")


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

    def resize(self, width: int) -> None:
        """Make the window so wide, in pixels."""
        size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False}
        self.ask("Emulation.setDeviceMetricsOverride", size)

    def show(self, file: Path, scheme: str) -> None:
        """Load a page and wait until all of it is there."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.ask("Emulation.setEmulatedMedia", {"features": features})
        self.events.clear()
        self.ask("Page.navigate", {"url": file.as_uri()})
        while not any(event["method"] == "Page.loadEventFired" for event in self.events):
            self.events.append(self._next())

    def value(self, expression: str) -> Any:
        """Return what an expression is on the page."""
        asked = {"expression": expression, "returnByValue": True}
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


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    started = Browser(tmp_path_factory.mktemp("profile"))
    yield started
    started.close()


def written(file: Path, folder: Path) -> Path:
    projection = Sessions().of_file(file)
    assert projection is not None
    page = folder / "page.html"
    page.write_text(document(page_of(projection, None, None), full=False), encoding="utf-8")
    return page


def sits_well(browser: Browser, page: Path) -> None:
    browser.show(page, "light")
    for width in (390, 1200):
        browser.resize(width)
        assert browser.value("innerWidth") == width
        assert browser.value(
            "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
        )
    assert browser.complaints() == []
    assert browser.requested() == [page.as_uri()]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_page_loads_nothing_and_fits_a_narrow_screen(
    browser: Browser, file: Path, tmp_path: Path
) -> None:
    sits_well(browser, written(file, tmp_path))


def test_hostile_content_does_nothing_in_a_browser(browser: Browser, tmp_path: Path) -> None:
    evil = (
        "</pre></style><script>alert(1)</script><img src=http://127.0.0.1:9/x onerror=alert(2)>"
        "<a href='javascript:alert(3)'>x</a>\u202e]]>--><!--" + "w" * 3000
    )
    writer = Writer(tmp_path / "s.jsonl", cwd="/w/<b>")
    tools = ("bash", "read", "grep", "find", "ls", "write", "edit", "<i onclick=alert(4)>")
    for number, tool in enumerate(tools):
        names = {"path": evil, "pattern": "alert", "command": evil, "content": evil}
        writer.answer(call(f"c{number}", tool, **names))
        text = f"{evil}:3: {evil}" if tool == "grep" else evil
        diff = {"diff": f"+1 {evil}\n-1 {evil}", "fullOutputPath": "javascript:alert(5)"}
        writer.result(f"c{number}", text, toolName=tool, details=diff)
    writer.entry("session_info", name=evil)

    sits_well(browser, written(writer.path, tmp_path))

    assert browser.value("document.querySelectorAll('script, img, [onclick]').length") == 0
    assert browser.value("[...document.links].filter(a => a.protocol != 'file:').length") == 0
    assert browser.value("document.title").startswith("</pre></style><script>")
    assert browser.value("document.querySelectorAll('article').length") == len(tools)


@pytest.mark.parametrize(("scheme", "darker"), [("light", False), ("dark", True)])
def test_a_page_is_light_or_dark_as_its_reader_likes(
    browser: Browser, tmp_path: Path, scheme: str, darker: bool
) -> None:
    browser.show(written(DATA / "basic.jsonl", tmp_path), scheme)

    paper, ink = (
        browser.value(
            f"getComputedStyle(document.body).{name}.match(/\\d+/g).slice(0, 3)"
            ".map(Number).reduce((sum, part) => sum + part, 0)"
        )
        for name in ("backgroundColor", "color")
    )

    assert (paper < ink) is darker
    assert abs(paper - ink) > 500
