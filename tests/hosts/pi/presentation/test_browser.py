"""The pages in a real browser: nothing runs, nothing is loaded, nothing sticks out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from chromium import CHROMIUM, Browser
from pi_sessions import Writer, call

from hindnote.core.presentation.collect import page_of
from hindnote.core.presentation.html import document
from hindnote.hosts.pi.sessions.projection import Sessions

DATA = Path(__file__).parents[3] / "data/pi"
FILES = sorted(DATA.glob("*.jsonl"))
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")


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
