"""Who may see the pages: one browser of one person, and no page of another site.

The server listens on loopback, where every program of the machine can reach it. So a browser
is let in once, by a token that only a file of the person's own holds, and gets a cookie. The
cookie's path is a name that nobody else knows, since cookies of one address go to the servers of
all of its ports. Host and Origin are checked against other names for this address (DNS
rebinding) and against requests that pages of other sites make.
"""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from hmac import compare_digest
from html import escape
from http.cookies import CookieError, SimpleCookie
from threading import Lock
from typing import Any, TypeAlias
from urllib.parse import parse_qs

Scope: TypeAlias = MutableMapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

COOKIE = "hindnote"
ENTER = "/enter"

POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)

HEADERS = {
    "content-security-policy": POLICY,
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
"""Set on every answer. Nothing from outside is loaded, and nothing in a page runs but our scripts."""

REFUSED = b"not allowed; start hindnote browse and open the page that it names\n"


class Guard:
    """Lets one browser in, and answers all others with the same refusal.

    Args:
        start: The page on which a browser begins, below ``prefix``.
        port: The port on which the server listens.
    """

    def __init__(self, start: str, port: int) -> None:
        self.app: App | None = None
        """The pages, below ``prefix``."""

        self._start = start
        self._host = f"127.0.0.1:{port}".encode()
        self._origin = b"http://" + self._host
        self._lock = Lock()
        self._token: str | None = secrets.token_urlsafe(32)
        self._secret = secrets.token_urlsafe(32)
        self.prefix = f"/{secrets.token_hex(8)}"
        self.on_entered: Callable[[], None] = lambda: None
        """Called when the token was used."""

    @property
    def address(self) -> str:
        """Address of the first page."""
        return f"{self._origin.decode()}{self.prefix}/"

    @property
    def entrance(self) -> str:
        """The address that gives the browser its cookie. It works once.

        Raises:
            RuntimeError: It has been used.
        """
        if self._token is None:
            raise RuntimeError("the token has been used")
        return f"{self._origin.decode()}{ENTER}?token={self._token}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            # The pages have no WebSockets. Uvicorn closes one that is not accepted.
            return
        headers: dict[bytes, bytes] = dict(scope["headers"])
        if not self._is_for_us(headers):
            await _answer(send, 403, REFUSED)
        elif scope["method"] not in ("GET", "HEAD"):
            await _answer(send, 405, b"read only\n")
        elif scope["path"] == ENTER:
            await self._enter(scope, send)
        elif self.app is not None and self._is_known(scope["path"], headers):
            await self.app(scope, receive, _with_headers(send))
        else:
            await _answer(send, 403, REFUSED)

    def _is_for_us(self, headers: dict[bytes, bytes]) -> bool:
        if headers.get(b"host") != self._host:
            return False
        return headers.get(b"origin") in (None, self._origin)

    def _is_known(self, path: str, headers: dict[bytes, bytes]) -> bool:
        if headers.get(b"sec-fetch-site") in (b"cross-site", b"same-site"):
            return False
        if not path.startswith(f"{self.prefix}/"):
            return False
        try:
            cookies = SimpleCookie(headers.get(b"cookie", b"").decode("latin-1"))
        except CookieError:
            return False
        given = cookies[COOKIE].value if COOKIE in cookies else ""
        return compare_digest(given.encode(), self._secret.encode())

    async def _enter(self, scope: Scope, send: Send) -> None:
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        with self._lock:
            fits = self._token is not None and compare_digest(given.encode(), self._token.encode())
            if fits:
                self._token = None
        if not fits:
            await _answer(send, 403, REFUSED)
            return
        cookie = f"{COOKIE}={self._secret}; Path={self.prefix}/; HttpOnly; SameSite=Strict"
        address = escape(f"{self.prefix}/{self._start}")
        # A redirect would still count as coming from the file that the browser was opened on,
        # and a strict cookie would not be sent along. This page's own refresh does not.
        page = (
            '<!doctype html><html lang="en"><meta charset="utf-8"><title>hindnote</title>'
            f'<meta http-equiv="refresh" content="0; url={address}">'
            f'<a href="{address}">hindnote</a></html>'
        )
        more = [(b"set-cookie", cookie.encode())]
        await _answer(send, 200, page.encode(), b"text/html; charset=utf-8", more)
        self.on_entered()


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            kept = [
                (name, value) for name, value in message["headers"] if name.decode() not in HEADERS
            ]
            message["headers"] = [*kept, *_HEADERS]
        await send(message)

    return sending


_HEADERS = [(name.encode(), value.encode()) for name, value in HEADERS.items()]


async def _answer(
    send: Send,
    status: int,
    body: bytes,
    kind: bytes = b"text/plain; charset=utf-8",
    more: list[tuple[bytes, bytes]] | None = None,
) -> None:
    headers = [(b"content-type", kind), (b"content-length", str(len(body)).encode())]
    start = {"type": "http.response.start", "status": status}
    await send({**start, "headers": [*headers, *_HEADERS, *(more or ())]})
    await send({"type": "http.response.body", "body": body})
