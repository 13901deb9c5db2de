from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from hindnote.core.browse.security import COOKIE, REFUSED

SECONDS = 30


def is_refused(answer: Any) -> bool:
    """Return whether an answer tells nothing: no page, and no cookie."""
    return (answer.status_code, answer.content, "set-cookie" in answer.headers) == (
        403,
        REFUSED,
        False,
    )


PATHS = (
    "",
    "notes",
    "project",
    "search?q=x",
    "s/claude:a4cc",
    "live/claude:a4cc",
    "static/page.js",
)


@pytest.mark.parametrize("path", PATHS)
def test_without_the_cookie_nothing_is_told(stranger: Any, path: str) -> None:
    assert is_refused(stranger.client.get(f"{stranger.world.base}{path}"))


@pytest.mark.parametrize("path", ["/", "/enter", "/enter?token=", "/enter?token=x", "/favicon.ico"])
def test_without_the_token_nobody_enters(stranger: Any, path: str) -> None:
    assert is_refused(stranger.client.get(path))


def test_the_token_lets_one_browser_in_once(stranger: Any) -> None:
    entrance = stranger.guard.entrance

    answer = stranger.client.get(entrance)

    assert answer.status_code == 200
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith(f"{COOKIE}=")
    assert cookie.endswith(f"; Path={stranger.guard.prefix}/; HttpOnly; SameSite=Strict")
    assert "Sessions" in stranger.text()
    stranger.client.cookies.clear()
    assert is_refused(stranger.client.get(entrance))


@pytest.mark.parametrize("value", ["", "x", '"', "a=b", "\u00e9".encode().decode("latin-1")])
def test_another_cookie_lets_nobody_in(stranger: Any, value: str) -> None:
    headers = {"cookie": f"{COOKIE}={value}".encode("latin-1")}

    assert is_refused(stranger.client.get(stranger.world.base, headers=headers))


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "evil.example:8123"},
        {"host": "127.0.0.1"},
        {"host": "127.0.0.1:8124"},
        {"host": "localhost:8123"},
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:8124"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
    ids=lambda headers: " ".join(headers.values()),
)
def test_a_request_from_elsewhere_is_told_nothing_even_with_the_cookie(
    site: Any, headers: dict[str, str]
) -> None:
    assert is_refused(site.client.get(site.world.base, headers=headers))


@pytest.mark.parametrize("headers", [{"host": "evil.example"}, {"origin": "http://evil.example"}])
def test_a_token_from_elsewhere_is_not_used_up(stranger: Any, headers: dict[str, str]) -> None:
    assert is_refused(stranger.client.get(stranger.guard.entrance, headers=headers))
    stranger.enter()


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_the_pages_are_read_only(site: Any, method: str) -> None:
    assert site.client.request(method, site.world.base).status_code == 405


@pytest.mark.parametrize("path", [*PATHS, "nowhere", "s/zzzzzzzz"])
def test_every_answer_forbids_what_is_not_ours(site: Any, path: str) -> None:
    headers = site.client.get(f"{site.world.base}{path}").headers

    assert headers["content-security-policy"].startswith("default-src 'none'; ")
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cache-control"] == "no-store"
    assert headers["x-content-type-options"] == "nosniff"
    assert "access-control-allow-origin" not in headers


def test_no_page_has_a_script_or_a_style_of_its_own(site: Any) -> None:
    for path in ("", "notes", "project", "search?q=calc", "s/claude:a4cc", "s/pi:01a22be3-cf"):
        page = site.text(path)
        assert page.count("<script") == page.count("<script src=") == 2
        assert "<style" not in page
        assert " style=" not in page
        assert " onclick" not in page


# -- the real server ---------------------------------------------------------------


class Server:
    """``hindnote browse`` in a process of its own."""

    def __init__(self, folder: Path) -> None:
        code = "from hindnote.core.cli import main; main()"
        environment = {**os.environ, "TMPDIR": str(folder), "PYTHONUNBUFFERED": "1"}
        self.process = subprocess.Popen(
            [sys.executable, "-c", code, "browse", "--no-open"],
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        # A server that says nothing must not hold up the tests.
        self._timer = threading.Timer(SECONDS, self.process.kill)
        self._timer.start()
        assert self.process.stdout is not None
        self.address = self.process.stdout.readline().split()[1]
        self.said = self.process.stdout.readline()
        [self.door] = folder.glob("hindnote-browse-*/open.html")

    def end(self) -> None:
        self.process.terminate()
        self.process.wait(SECONDS)
        self._timer.cancel()
        if self.process.stdout is not None:
            self.process.stdout.close()


def status_of(address: str) -> int:
    try:
        with urllib.request.urlopen(address, timeout=SECONDS) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        with error:
            return error.code


def test_the_served_pages_open_by_a_file_of_the_person_s_own_and_clean_up(
    recorded: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "tmp"
    folder.mkdir()
    server = Server(folder)
    try:
        assert stat.S_IMODE(server.door.stat().st_mode) == 0o600
        assert stat.S_IMODE(server.door.parent.stat().st_mode) == 0o700
        entrance = server.door.read_text().split("url=")[1].split('"')[0]
        token = entrance.partition("token=")[2]
        assert len(token) > 40
        # Neither what a list of processes shows nor what is printed holds the token.
        assert token not in server.said + server.address
        command = Path(f"/proc/{server.process.pid}/cmdline")
        if command.exists():
            assert token not in command.read_text()
        assert status_of(server.address) == 403
        assert status_of(entrance) == 200
        assert status_of(entrance) == 403
        deadline = time.monotonic() + SECONDS
        while server.door.exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        assert not server.door.exists()
    finally:
        server.end()
    assert list(folder.glob("hindnote-browse-*")) == []
