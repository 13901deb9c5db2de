"""A small HTTP/1.1 server on a Unix socket, for one user and one host process.

``POST /`` hands a body to the answering function, ``GET /alive`` says that the server
lives. One request per connection, connections in parallel. The server ends on SIGTERM,
SIGINT or SIGHUP, when its parent process is gone, and when nobody asked for long enough.
"""

from __future__ import annotations

import os
import selectors
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

BODY_LIMIT = 4 * 1024 * 1024
"""Bytes of a request's body, at most."""

HEAD_LIMIT = 64 * 1024
"""Bytes of a request's line and header fields, at most."""

PATIENCE = 30.0
"""Seconds in which a client must have sent its request."""

PARENT_CHECK = 1.0
"""Seconds between looks at the parent where the system cannot tell of its end."""

LAST_CALLS = 1.0
"""Seconds that running calls get to finish when the server ends."""

FOLDER_PREFIX = "hindnote-"
"""How the folders of sockets begin; the mod names them."""

Answer = Callable[[bytes], tuple[int, bytes]]
"""From a request's body to status and body of the response. Called in several threads."""

_REASONS = {200: "OK", 400: "Bad Request", 404: "Not Found", 411: "Length Required"}
_REASONS |= {413: "Content Too Large", 422: "Unprocessable Content", 500: "Internal Server Error"}


class BadRequest(Exception):
    """A request that cannot be read, with the status to answer."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Server:
    """One resident server.

    Args:
        path: Where the socket will be. Its folder is made, private to the user.
        parent: Id of the process whose end ends the server.
        idle: Seconds without a request after which the server ends.
        answer: What answers a body.
    """

    def __init__(self, path: Path, parent: int, idle: float, answer: Answer) -> None:
        self._path = path
        self._parent = parent
        self._idle = idle
        self._answer = answer
        self._lock = threading.Lock()
        self._running = 0
        self._last_used = time.monotonic()

    def run(self, ready: Callable[[], None]) -> None:
        """Serve until one of the reasons to end comes up; ``ready`` is called once it listens.

        Raises:
            OSError: The folder or the socket cannot be made, or is not the user's own.
        """
        with _listening(self._path) as listener, _signals() as signals:
            ready()
            self._loop(listener, signals)
            deadline = time.monotonic() + LAST_CALLS
            while self._running and time.monotonic() < deadline:
                time.sleep(0.01)

    def _loop(self, listener: socket.socket, signals: socket.socket) -> None:
        with selectors.DefaultSelector() as selector, _parent_handle(self._parent) as parent:
            selector.register(listener, selectors.EVENT_READ)
            selector.register(signals, selectors.EVENT_READ)
            if parent is not None:
                selector.register(parent, selectors.EVENT_READ)
            while (remaining := self._remaining()) > 0 and (parent is not None or self._alive()):
                wait = remaining if parent is not None else min(remaining, PARENT_CHECK)
                events = [key.fileobj for key, _ in selector.select(wait)]
                if listener in events:
                    self._accept(listener)
                elif events:
                    return

    def _remaining(self) -> float:
        with self._lock:
            if self._running:
                return self._idle
            return self._last_used + self._idle - time.monotonic()

    def _alive(self) -> bool:
        try:
            os.kill(self._parent, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            return True
        return True

    def _accept(self, listener: socket.socket) -> None:
        with suppress(OSError):
            connection, _ = listener.accept()
            connection.settimeout(PATIENCE)
            with self._lock:
                self._running += 1
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        try:
            # A client that went away is no matter of ours.
            with connection, suppress(OSError):
                connection.sendall(self._response(connection))
        finally:
            with self._lock:
                self._running -= 1
                self._last_used = time.monotonic()

    def _response(self, connection: socket.socket) -> bytes:
        try:
            method, target, body = read_request(connection)
        except BadRequest as bad:
            return response(bad.status, str(bad).encode())
        if (method, target) == ("GET", "/alive"):
            return response(200, b"")
        if (method, target) != ("POST", "/"):
            return response(404, b"ask with POST / or GET /alive")
        return response(*self._answer(body))


def read_request(connection: socket.socket) -> tuple[str, str, bytes]:
    """Read one request: method, target and body.

    Raises:
        BadRequest: It is no request, or too large.
        OSError: The client went away or took too long.
    """
    received = bytearray()
    while (end := received.find(b"\r\n\r\n")) < 0:
        if len(received) > HEAD_LIMIT:
            raise BadRequest(413, "the header is too large")
        _receive(connection, received)
    lines = bytes(received[:end]).decode("latin-1").split("\r\n")
    words = lines[0].split(" ")
    if len(words) != 3 or not words[2].startswith("HTTP/1."):
        raise BadRequest(400, "not an HTTP/1.1 request")
    size = _body_size(lines[1:])
    body = received[end + 4 :]
    while len(body) < size:
        _receive(connection, body)
    return words[0], words[1], bytes(body[:size])


def _receive(connection: socket.socket, into: bytearray) -> None:
    chunk = connection.recv(65536)
    if not chunk:
        raise ConnectionResetError("the client went away")
    into += chunk


def _body_size(fields: list[str]) -> int:
    size = 0
    for field in fields:
        name, _, value = field.partition(":")
        if name.lower() == "transfer-encoding":
            raise BadRequest(411, "say how long the body is")
        if name.lower() == "content-length":
            if not value.strip().isdecimal():
                raise BadRequest(400, "the content length is no number")
            size = int(value)
    if size > BODY_LIMIT:
        raise BadRequest(413, f"the body has {size} bytes; at most {BODY_LIMIT} are read")
    return size


def response(status: int, body: bytes) -> bytes:
    """Return a whole response."""
    head = (
        f"HTTP/1.1 {status} {_REASONS.get(status, 'Error')}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + body


@contextmanager
def _listening(path: Path) -> Iterator[socket.socket]:
    """Yield a socket that listens at ``path``, in a folder for this user alone."""
    if not hasattr(socket, "AF_UNIX"):
        raise OSError("this system has no Unix sockets")
    sweep(path.parent.parent)
    made = private_folder(path.parent)
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
            listener.bind(str(path))
            path.chmod(0o600)
            listener.listen(64)
            listener.setblocking(False)
            try:
                yield listener
            finally:
                path.unlink(missing_ok=True)
    finally:
        if made:
            with suppress(OSError):
                path.parent.rmdir()


def sweep(folder: Path) -> None:
    """Remove what servers left behind that were killed: folders whose socket nobody serves."""
    for path in folder.glob(f"{FOLDER_PREFIX}*/s"):
        with suppress(OSError):
            if path.lstat().st_uid != os.getuid() or not path.is_socket():
                continue
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
                try:
                    probe.connect(str(path))
                except ConnectionRefusedError:
                    path.unlink()
                    path.parent.rmdir()


def private_folder(folder: Path) -> bool:
    """Make a folder for this user alone, or check the one that is there; return if it is new.

    Raises:
        PermissionError: The folder is there and open to others, or another user's.
    """
    try:
        folder.mkdir(mode=0o700)
    except FileExistsError:
        found = folder.lstat()
        if not folder.is_dir() or folder.is_symlink():
            raise
        if found.st_uid != os.getuid() or found.st_mode & 0o077:
            raise PermissionError(f"{folder} is not private to this user") from None
        return False
    return True


@contextmanager
def _signals() -> Iterator[socket.socket]:
    """Yield a socket that becomes readable when the process is asked to end."""
    reader, writer = socket.socketpair()
    writer.setblocking(False)
    before = signal.set_wakeup_fd(writer.fileno())
    numbers = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
    handlers = [signal.signal(number, lambda *_: None) for number in numbers]
    try:
        with reader, writer:
            yield reader
    finally:
        signal.set_wakeup_fd(before)
        for number, handler in zip(numbers, handlers, strict=True):
            signal.signal(number, handler)


@contextmanager
def _parent_handle(parent: int) -> Iterator[int | None]:
    """Yield a descriptor that becomes readable at the parent's end; None: look yourself."""
    handle: int | None = None
    if sys.platform == "linux":
        # Refused in some containers; ProcessLookupError means that it is gone already,
        # which the first look finds.
        with suppress(OSError):
            handle = os.pidfd_open(parent)
    try:
        yield handle
    finally:
        if handle is not None:
            os.close(handle)
