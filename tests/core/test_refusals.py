"""The closed list of refusal codes, each triggered by a call that a host could send."""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import pytest

from hindnote import Decoration, HostCall, hookimpl
from hindnote.core.call import Answer, Dispatcher
from hindnote.core.errors import RefusalCode
from hindnote.core.plugins.hosts import Hosts
from hindnote.core.text.messages import MESSAGE_LIMIT
from hindnote.core.tools.registry import registry
from hindnote.hosts.pi import plugin as pi

SESSIONS = Path(__file__).parents[1] / "data" / "pi"


class Wordy:
    """Pi, with more text around a page than a page may have."""

    host_base_cwd = staticmethod(pi.host_base_cwd)
    host_identity = staticmethod(pi.host_identity)
    host_projection = staticmethod(pi.host_projection)

    @hookimpl
    def host_decoration(self, operation: str) -> Decoration:
        return Decoration(prefix="x" * 40_000)


class Bench:
    """A notes home, a workspace and a recorded session, and calls on them."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.home = folder / "notes"
        self.workspace = folder / "workspace"
        self.workspace.mkdir()
        self.monkeypatch = monkeypatch
        self.session: Path | None = SESSIONS / "basic.jsonl"
        self.host: object = pi

    def call(self, operation: str, **arguments: Any) -> Answer:
        call = HostCall(
            host="pi",
            cwd=self.workspace,
            session_file=self.session,
            config_dir=self.workspace / "no-config",
        )
        return Dispatcher(Hosts.of({"pi": self.host}), self.home).call(call, operation, arguments)

    def note(self, name: str, content: bytes | str) -> None:
        path = self.home / "human" / f"{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


def address_collision(bench: Bench) -> Answer:
    bench.note("Plan", "x")
    return bench.call("notes_write", address="@human/plan", content="x")


def already_exists(bench: Bench) -> Answer:
    bench.note("a", "x")
    bench.note("b", "x")
    return bench.call("notes_update", address="@human/a", rename_to="@human/b")


def ambiguous_edit(bench: Bench) -> Answer:
    bench.note("a", "x\nx")
    edits = [{"old_text": "x", "new_text": "y"}]
    return bench.call("notes_update", address="@human/a", edits=edits)


def ambiguous_session(bench: Bench) -> Answer:
    return bench.call("history_list", session="01a2")


def changed(bench: Bench) -> Answer:
    bench.note("a", "x")
    return bench.call("notes_write", address="@human/a", content="y", expected_version="absent")


def invalid_address(bench: Bench) -> Answer:
    return bench.call("notes_read", address="../secret")


def invalid_cwd(bench: Bench) -> Answer:
    return bench.call("notes_list", cwd="absent")


def invalid_frontmatter(bench: Bench) -> Answer:
    bench.note("a", "---\na: [\n---\nx")
    return bench.call("notes_update", address="@human/a", archived=True)


def invalid_glob(bench: Bench) -> Answer:
    return bench.call("notes_list", glob="@human/")


def invalid_offset(bench: Bench) -> Answer:
    bench.note("a", "x")
    return bench.call("notes_read", address="@human/a", offset_chars=2)


def invalid_selection(bench: Bench) -> Answer:
    return bench.call("history_list", session="*", before_seq=5)


def invalid_session(bench: Bench) -> Answer:
    return bench.call("history_list", session="")


def invalid_time(bench: Bench) -> Answer:
    return bench.call("history_list", since="yesterday")


def io_error(bench: Bench) -> Answer:
    bench.note("a", "x")

    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    bench.monkeypatch.setattr(os, "fsync", full)
    return bench.call("notes_write", address="@human/a", content="y")


def locked(bench: Bench) -> Answer:
    bench.call("notes_write", address="@human/a", content="x")
    bench.monkeypatch.setattr("hindnote.core.notes.locks.WAIT_SECONDS", 0.05)
    held = [path.open("wb") for path in (bench.home / ".hindnote" / "locks").iterdir()]
    try:
        for file in held:
            fcntl.flock(file, fcntl.LOCK_EX)
        return bench.call("notes_write", address="@human/a", content="y")
    finally:
        for file in held:
            file.close()


def no_current_session(bench: Bench) -> Answer:
    bench.session = None
    return bench.call("notes_write", address="plan", content="x")


def no_match(bench: Bench) -> Answer:
    bench.note("a", "x")
    edits = [{"old_text": "z", "new_text": "y"}]
    return bench.call("notes_update", address="@human/a", edits=edits)


def not_an_event(bench: Bench) -> Answer:
    # 1 is the person's prompt, 2 the answer's text, 3 its call, 4 that call's result.
    return bench.call("history_read", seq=4)


def not_found(bench: Bench) -> Answer:
    return bench.call("notes_read", address="@human/absent")


def not_on_branch(bench: Bench) -> Answer:
    bench.session = SESSIONS / "branch-root.jsonl"
    return bench.call("history_read", seq=1)


def not_text(bench: Bench) -> Answer:
    bench.note("a", b"caf\xe9")
    return bench.call("notes_read", address="@human/a")


def nothing_to_do(bench: Bench) -> Answer:
    bench.note("a", "x")
    return bench.call("notes_update", address="@human/a")


def output_too_large(bench: Bench) -> Answer:
    bench.host = Wordy()
    return bench.call("history_read", seq=1)


def outside_home(bench: Bench) -> Answer:
    bench.note("a", "x")
    (bench.workspace / "secret.md").write_text("secret")
    (bench.home / "human" / "link.md").symlink_to(bench.workspace / "secret.md")
    return bench.call("notes_read", address="@human/link")


def page_too_large(bench: Bench) -> Answer:
    bench.host = Wordy()
    return bench.call("history_list")


def read_only_home(bench: Bench) -> Answer:
    return bench.call("notes_write", address="@agents/other/a", content="x")


def too_large(bench: Bench) -> Answer:
    return bench.call("notes_write", address="@human/a", content="x" * 1_000_001)


def unknown_seq(bench: Bench) -> Answer:
    return bench.call("history_read", seq=9_999)


def unknown_session(bench: Bench) -> Answer:
    return bench.call("history_list", session="pi:absent")


def unreadable_session(bench: Bench) -> Answer:
    bench.session = bench.workspace / "no-session.jsonl"
    bench.session.write_text("no session\n")
    return bench.call("history_list")


CAUSES: dict[RefusalCode, Callable[[Bench], Answer]] = {
    "address_collision": address_collision,
    "already_exists": already_exists,
    "ambiguous_edit": ambiguous_edit,
    "ambiguous_session": ambiguous_session,
    "changed": changed,
    "invalid_address": invalid_address,
    "invalid_cwd": invalid_cwd,
    "invalid_frontmatter": invalid_frontmatter,
    "invalid_glob": invalid_glob,
    "invalid_offset": invalid_offset,
    "invalid_selection": invalid_selection,
    "invalid_session": invalid_session,
    "invalid_time": invalid_time,
    "io_error": io_error,
    "locked": locked,
    "no_current_session": no_current_session,
    "no_match": no_match,
    "not_an_event": not_an_event,
    "not_found": not_found,
    "not_on_branch": not_on_branch,
    "not_text": not_text,
    "nothing_to_do": nothing_to_do,
    "output_too_large": output_too_large,
    "outside_home": outside_home,
    "page_too_large": page_too_large,
    "read_only_home": read_only_home,
    "too_large": too_large,
    "unknown_seq": unknown_seq,
    "unknown_session": unknown_session,
    "unreadable_session": unreadable_session,
}


def test_every_refusal_code_has_a_cause() -> None:
    assert set(CAUSES) == set(get_args(RefusalCode))


def test_every_refusal_code_is_declared_by_an_operation() -> None:
    declared = {code for operation in registry().values() for code in operation.codes}

    assert declared == set(CAUSES)


@pytest.mark.parametrize("code", CAUSES)
def test_a_cause_ends_in_its_refusal_with_one_line_that_helps(
    code: RefusalCode, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = CAUSES[code](Bench(tmp_path, monkeypatch))

    assert answer.result["code"] == code
    assert set(answer.result) == {"error", "code"}
    message = answer.result["error"]
    assert len(message) <= MESSAGE_LIMIT
    assert len(message.splitlines()) == 1
    assert answer.text == f"error: {code}: {message}"
