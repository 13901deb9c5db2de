"""Every page and key in a real Chromium: nothing runs or loads that is not hindnote's own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from chromium import Browser
from pages_world import DATA, Server, World

PAGES = [
    "",
    "?q=greeting&host=claude",
    "search",
    "search?q=greeting",
    "search?q=calc&mode=exact",
    "notes",
    "notes/human/habits.md",
    "project",
    "document/docs/release.md?project=ship",
    "s/claude:a4cc8b3b-0ae7-4f89-9093-cc8b99628698",
    "s/pi:01a22be3-cf",
    "s/pi:01a22bdd-2b",
    "s/pi:evilevil",
    "s/claude:143c5086-a66b-4dae-b838-88bf50efa096",
]
WIDTHS = (390, 800, 1400)


def project_note(world: World) -> str:
    [key] = [path.name for path in (world.top / "notes/project").iterdir()]
    return f"notes/project/{key}/decisions.md"


def unfold(browser: Browser) -> None:
    browser.value("for (const one of document.querySelectorAll('details')) one.open = true; 1")


def has_no_serious_finding(browser: Browser, axe: str) -> None:
    browser.value(f"{axe}; 1")
    run = "axe.run(document).then(r => JSON.stringify(r.violations.map(v => [v.impact, v.id, v.nodes.map(n => n.html).slice(0, 3)])))"
    found = json.loads(browser.value(run))
    assert [one for one in found if one[0] in ("serious", "critical")] == []


def sits_well(browser: Browser, server: Server) -> None:
    """Check that a page asked for nothing outside, complained of nothing, and sticks out nowhere."""
    origin = server.address.rpartition("/")[0].rpartition("/")[0]
    for width in WIDTHS:
        browser.resize(width)
        assert browser.value("innerWidth") == width
        assert browser.value(
            "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
        ), f"wider than {width}"
    assert browser.complaints() == []
    # The browser's own picture in a field for a date is a data address.
    ours = (f"{origin}/", "data:image/svg+xml;base64,")
    assert [url for url in browser.requested() if not url.startswith(ours)] == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", PAGES)
def test_a_page_complains_of_nothing_loads_nothing_and_can_be_used_by_all(
    browser: Browser, server: Server, axe: str, path: str, scheme: str
) -> None:
    browser.show(server.address + path, scheme)
    unfold(browser)

    sits_well(browser, server)
    has_no_serious_finding(browser, axe)


def test_a_note_with_its_versions_sits_well_too(
    browser: Browser, server: Server, world: World, axe: str
) -> None:
    browser.show(server.address + project_note(world))
    unfold(browser)

    assert browser.value("document.querySelectorAll('.version').length") == 2
    assert "SQLite" in browser.value("document.querySelector('.version .del').textContent")
    sits_well(browser, server)
    has_no_serious_finding(browser, axe)


@pytest.mark.parametrize(
    "file",
    sorted([*DATA.glob("claude/**/*.jsonl"), *DATA.glob("pi/*.jsonl")]),
    ids=lambda file: f"{file.parent.name}-{file.stem}",
)
def test_every_recorded_session_sits_well(
    browser: Browser, server: Server, world: World, file: Path
) -> None:
    for entry in sessions_of(world, file.name):
        browser.show(f"{server.address}s/{entry}")
        unfold(browser)
        assert browser.value("document.querySelectorAll('[data-seq]').length") > 0
        sits_well(browser, server)


LISTED: dict[str, list[str]] = {}


def sessions_of(world: World, name: str) -> list[str]:
    """Return the sessions that lie in files of a name."""
    if not LISTED:
        import subprocess

        from pages_world import HINDNOTE

        done = subprocess.run(
            [*HINDNOTE, "sessions", "--all", "--json"],
            cwd=world.project,
            env=world.environment,
            capture_output=True,
            check=True,
        )
        for one in json.loads(done.stdout)["sessions"]:
            LISTED.setdefault(Path(one["file"]).name, []).append(one["session"])
    return LISTED.get(name, [])


def test_a_script_in_a_session_stays_text(browser: Browser, server: Server) -> None:
    for path in ("", "s/pi:evilevil", "search?q=alert", "search?q=script&mode=exact"):
        browser.show(server.address + path)
        unfold(browser)

        assert browser.value("document.body.innerText.includes('alert(1)')")
        assert (
            browser.value("document.querySelectorAll('script:not([src]), img, iframe').length") == 0
        )
        assert (
            browser.value("[...document.links].filter(a => !/^https?:$/.test(a.protocol)).length")
            == 0
        )
        sits_well(browser, server)


def focused(browser: Browser) -> Any:
    return browser.value("document.activeElement.id")


def test_keys_move_open_and_search(browser: Browser, server: Server) -> None:
    browser.show(f"{server.address}s/claude:a4cc8b3b-0ae7-4f89-9093-cc8b99628698?after=0")
    current = "document.querySelector('.current')?.dataset.seq"

    for key, seq in (("j", "1"), ("j", "12"), ("j", "13"), ("k", "12"), ("j", "13")):
        browser.press(key)
        assert browser.value(current) == seq
    assert browser.value("document.getElementById('seq-13').open") is False
    browser.press("o")
    assert browser.value("document.getElementById('seq-13').open") is True
    browser.press("o")
    assert browser.value("document.getElementById('seq-13').open") is False

    browser.press("?")
    assert browser.value("document.getElementById('help').open") is True
    browser.press("Escape")
    browser.until("!document.getElementById('help').open")

    browser.press("/")
    assert focused(browser) == "search"
    browser.press("j")
    assert browser.value("document.getElementById('search').value") == "j"
    browser.press("Escape")
    assert focused(browser) != "search"
    assert browser.complaints() == []


def test_o_opens_a_session_of_the_list(browser: Browser, server: Server) -> None:
    browser.show(f"{server.address}?q=greeting&host=claude")

    browser.press("j")
    browser.press("o")

    browser.until("location.pathname.includes('/s/claude:')")


def test_a_deep_link_opens_the_call_that_it_names(browser: Browser, server: Server) -> None:
    browser.show(f"{server.address}s/claude:a4cc8b3b-0ae7-4f89-9093-cc8b99628698?around=24#seq-24")

    assert browser.until("document.getElementById('seq-24').open")
    assert browser.value(
        "(r => r.top >= 0 && r.bottom <= innerHeight)"
        "(document.getElementById('seq-24').getBoundingClientRect())"
    )


def test_a_chosen_theme_stays(browser: Browser, server: Server) -> None:
    dark = "getComputedStyle(document.body).backgroundColor"
    browser.show(server.address, "light")
    before = browser.value(dark)

    browser.value("document.getElementById('theme').click()")
    browser.show(f"{server.address}notes", "light")

    assert browser.value("document.documentElement.dataset.theme") == "dark"
    assert browser.value(dark) != before
    browser.value("document.getElementById('theme').click()")
    assert browser.value(dark) == before
    browser.value("localStorage.clear()")


def test_a_running_session_grows_on_the_page(
    browser: Browser, server: Server, world: World
) -> None:
    call = {"type": "toolCall", "id": "c", "name": "bash", "arguments": {"command": "make"}}
    file = world.add(
        "growing1",
        {"role": "user", "content": "Build it."},
        {"role": "assistant", "content": [call]},
    )
    browser.show(f"{server.address}s/pi:growing1")
    assert browser.value("document.querySelectorAll('[data-seq]').length") == 2

    result = {"role": "toolResult", "toolCallId": "c", "toolName": "bash", "isError": False}
    text = {"type": "text", "text": "<script>alert(5)</script> built"}
    rows = [
        {"id": "r", "parentId": "growing11", "message": {**result, "content": [text]}},
        {"id": "u", "parentId": "r", "message": {"role": "user", "content": "Thank you."}},
    ]
    with file.open("a") as out:
        out.writelines(json.dumps({"type": "message", **row}) + "\n" for row in rows)

    browser.until("document.body.innerText.includes('Thank you.')")
    assert browser.value("document.getElementById('seq-3').dataset.status") == "ok"
    assert browser.value("document.querySelectorAll('[data-seq]').length") == 3
    unfold(browser)
    assert browser.value("document.body.innerText.includes('<script>alert(5)</script> built')")
    assert browser.complaints() == []


def test_the_pages_work_without_javascript(browser: Browser, server: Server) -> None:
    browser.ask("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.show(f"{server.address}s/pi:01a22be3-cf?after=0")
        assert browser.value("document.querySelectorAll('[data-seq]').length") == 27
        assert browser.value("document.querySelectorAll('.outline a').length") == 3
        assert browser.value("document.querySelectorAll('button:not([hidden])').length") <= 1
        assert browser.complaints() == []
    finally:
        browser.ask("Emulation.setScriptExecutionDisabled", {"value": False})


def test_a_second_browser_is_not_let_in(server: Server, visitor: Browser, tmp_path: Path) -> None:
    other = Browser(tmp_path / "profile")
    try:
        other.show(server.address)
        assert "not allowed" in other.value("document.body.innerText")
        assert other.value("document.links.length") == 0
    finally:
        other.close()
