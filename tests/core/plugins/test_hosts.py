"""The front door: what plugins answer, checked; and how they are found."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hindnote import Decoration, HostCall, HostIdentity, Refused, SessionEntry, hookimpl
from hindnote.core.errors import HostFailure
from hindnote.core.history.projection import Branch, Damage, SessionHeader, SlotFacts
from hindnote.core.plugins.hosts import Hosts

CALL = HostCall(host="good", cwd=Path("/"))


class Empty:
    """A projection of nothing."""

    def __init__(self, host: str = "good") -> None:
        self.header = SessionHeader(host=host, session_id="s1")
        self.last_seq = 0
        self.windows = array("q", [1])
        self.damaged: list[Damage] = []

    @property
    def branch(self) -> Branch:
        raise AssertionError("decoded although nobody asked for it")

    def facts(self, seq: int) -> SlotFacts:
        raise AssertionError(seq)


class Good:
    @hookimpl
    def host_base_cwd(self, call: HostCall) -> Any:
        return call.cwd

    @hookimpl
    def host_identity(self, call: HostCall) -> Any:
        return HostIdentity(host="good", session_id="s1", agent="root", model="m")

    @hookimpl
    def host_projection(self, call: HostCall, session: SessionEntry | None) -> Any:
        return Empty()


def good() -> Hosts:
    return Hosts.of({"good": Good()})


# -- answers -------------------------------------------------------------------


def test_a_call_for_a_host_that_is_not_installed_fails_with_those_that_are() -> None:
    with pytest.raises(HostFailure) as caught:
        good().base_cwd(HostCall(host="bad", cwd=Path("/")))

    assert "'bad'" in str(caught.value)
    assert "good" in str(caught.value)


def test_a_call_is_answered_by_its_own_plugin_alone(tmp_path: Path) -> None:
    class Other(Good):
        @hookimpl
        def host_base_cwd(self, call: HostCall) -> Any:
            raise AssertionError("asked for a call of another host")

    hosts = Hosts.of({"good": Good(), "other": Other()})

    assert hosts.base_cwd(HostCall(host="good", cwd=tmp_path)) == tmp_path


@pytest.mark.parametrize("answer", [None, "/", Path("relative"), Path("/\0")])
def test_a_base_cwd_that_is_no_absolute_path_is_a_host_failure(answer: Any) -> None:
    class Bad(Good):
        @hookimpl
        def host_base_cwd(self, call: HostCall) -> Any:
            return answer

    with pytest.raises(HostFailure, match="'good'"):
        Hosts.of({"good": Bad()}).base_cwd(CALL)


def test_a_base_cwd_that_was_deleted_is_an_answer(tmp_path: Path) -> None:
    gone = tmp_path / "gone"

    assert good().base_cwd(HostCall(host="good", cwd=gone)) == gone


@pytest.mark.parametrize(
    "answer",
    [
        None,
        {"host": "good", "session_id": "s1", "agent": "a", "model": "m"},
        HostIdentity(host="other", session_id="s1", agent="a", model="m"),
        HostIdentity(host="good", session_id="", agent="a", model="m"),
        HostIdentity.model_construct(host="good", session_id="\ud800", agent="a", model="m"),
    ],
)
def test_an_identity_of_another_shape_or_host_is_a_host_failure(answer: Any) -> None:
    class Bad(Good):
        @hookimpl
        def host_identity(self, call: HostCall) -> Any:
            return answer

    with pytest.raises(HostFailure, match="'good'"):
        Hosts.of({"good": Bad()}).identity(CALL)


def test_a_host_without_decoration_adds_no_text() -> None:
    assert good().decoration(CALL, "history_list") == Decoration()


def test_a_decoration_that_is_a_text_is_a_host_failure() -> None:
    class Bad(Good):
        @hookimpl
        def host_decoration(self, operation: str) -> Any:
            return "<history>"

    with pytest.raises(HostFailure, match="host_decoration"):
        Hosts.of({"good": Bad()}).decoration(CALL, "history_list")


def test_a_refusal_that_a_question_does_not_have_is_the_failure_of_its_plugin() -> None:
    class Refusing(Good):
        @hookimpl
        def host_identity(self, call: HostCall) -> Any:
            raise Refused("unreadable_session", "no session")

        @hookimpl
        def host_projection(self, call: HostCall, session: SessionEntry | None) -> Any:
            raise Refused("not_found", "no session")

    hosts = Hosts.of({"good": Refusing()})
    with pytest.raises(HostFailure, match="'good'.*host_identity.*'unreadable_session'"):
        hosts.identity(CALL)
    with pytest.raises(HostFailure, match="only 'unreadable_session'"):
        hosts.current(CALL)


def test_a_plugin_that_leaves_the_process_is_a_host_failure() -> None:
    class Leaving(Good):
        @hookimpl
        def host_identity(self, call: HostCall) -> Any:
            sys.exit(3)

        @hookimpl
        def host_sessions(self, call: HostCall) -> Iterator[SessionEntry]:
            yield SessionEntry(host="good", id="s1", file=Path("/s1"))
            sys.exit(3)

    hosts = Hosts.of({"good": Leaving()})
    with pytest.raises(HostFailure, match="host_identity with SystemExit"):
        hosts.identity(CALL)
    with pytest.raises(HostFailure, match="host_sessions with SystemExit"):
        list(hosts.sessions(CALL, "good"))


def test_a_crash_of_a_plugin_is_a_host_failure_that_keeps_its_cause_and_not_its_text() -> None:
    class Crashing(Good):
        @hookimpl
        def host_identity(self, call: HostCall) -> Any:
            raise KeyError("secret")

    with pytest.raises(HostFailure) as caught:
        Hosts.of({"good": Crashing()}).identity(CALL)

    assert "KeyError" in str(caught.value)
    assert "secret" not in str(caught.value)
    assert isinstance(caught.value.__cause__, KeyError)


def test_a_plugin_s_refusal_of_a_session_passes_the_door() -> None:
    class Refusing(Good):
        @hookimpl
        def host_projection(self, call: HostCall, session: SessionEntry | None) -> Any:
            raise Refused("unreadable_session", "no session")

    with pytest.raises(Refused):
        Hosts.of({"good": Refusing()}).current(CALL)


def test_a_projection_is_checked_without_being_decoded() -> None:
    assert good().current(CALL) is not None


class _Headless:
    header = "s1"


class _HeaderAlone:
    header = SessionHeader(host="good", session_id="s1")


@pytest.mark.parametrize("answer", [[], _Headless(), _HeaderAlone(), Empty(host="other")])
def test_a_projection_of_another_shape_or_host_is_a_host_failure(answer: Any) -> None:
    class Bad(Good):
        @hookimpl
        def host_projection(self, call: HostCall, session: SessionEntry | None) -> Any:
            return answer

    with pytest.raises(HostFailure, match="'good'"):
        Hosts.of({"good": Bad()}).current(CALL)


def test_a_session_is_opened_by_the_host_that_listed_it() -> None:
    asked: list[SessionEntry | None] = []

    class Other(Good):
        @hookimpl
        def host_projection(self, call: HostCall, session: SessionEntry | None) -> Any:
            asked.append(session)

    entry = SessionEntry(host="other", id="s9", file=Path("/s9.jsonl"))

    assert Hosts.of({"good": Good(), "other": Other()}).open(CALL, entry) is None
    assert asked == [entry]


def test_a_host_without_sessions_has_an_empty_catalogue() -> None:
    assert list(good().sessions(CALL, "good")) == []


def test_a_catalogue_may_be_a_generator_and_is_read_as_far_as_it_is_needed() -> None:
    class Listing(Good):
        @hookimpl
        def host_sessions(self, call: HostCall) -> Iterator[SessionEntry]:
            yield SessionEntry(host="good", id="s1", file=Path("/s1"))
            raise AssertionError("read on although nobody asked")

    sessions = Hosts.of({"good": Listing()}).sessions(CALL, "good")

    assert next(iter(sessions)).canonical == "good:s1"


@pytest.mark.parametrize(
    "answer", [["s1"], 5, [SessionEntry(host="other", id="s1", file=Path("/s1"))]]
)
def test_a_catalogue_of_another_shape_or_host_is_a_host_failure(answer: Any) -> None:
    class Bad(Good):
        @hookimpl
        def host_sessions(self, call: HostCall) -> Iterable[SessionEntry]:
            return answer  # type: ignore[no-any-return]

    with pytest.raises(HostFailure, match="'good'"):
        list(Hosts.of({"good": Bad()}).sessions(CALL, "good"))


# -- finding -------------------------------------------------------------------

Install = Callable[..., None]


def codes(hosts: Hosts) -> dict[str, str]:
    """Return the code with which each refused plugin was refused, by its distribution."""
    return {
        str(report.source.distribution): report.refused.code
        for report in hosts.report()
        if report.refused is not None
    }


def test_a_third_party_s_host_is_found_through_its_entry_point(install: Install) -> None:
    install("acme-host", "acme", "hindnote_test_acme")

    hosts = Hosts.load()

    assert "acme" in hosts.slugs()
    assert hosts.identity(HostCall(host="acme", cwd=Path("/"))).agent == "a"
    assert [r.source.distribution for r in hosts.report() if r.source.slug == "acme"] == [
        "acme-host 1.0"
    ]


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ("import no_such_module_anywhere", "import_failed"),
        ("raise SystemExit(3)", "import_failed"),
        ("def broken(:", "import_failed"),
        ("", "missing_hook"),
        ("from hindnote.core.places.project import project_key", "cwd_override"),
    ],
)
def test_a_broken_plugin_is_refused_and_the_others_are_served(
    install: Install, source: str, code: str
) -> None:
    install("acme-host", "acme", "hindnote_test_acme")
    install("broken-host", "broken", "hindnote_test_broken", source)

    hosts = Hosts.load()

    assert "acme" in hosts.slugs()
    assert "broken" not in hosts.slugs()
    assert codes(hosts)["broken-host 1.0"] == code
    with pytest.raises(HostFailure, match="broken-host 1.0"):
        hosts.base_cwd(HostCall(host="broken", cwd=Path("/")))


def test_a_second_claim_to_a_slug_is_refused_and_the_first_is_served(install: Install) -> None:
    install("b-host", "acme", "hindnote_test_b", "raise AssertionError('imported')")
    install("a-host", "acme", "hindnote_test_a")

    hosts = Hosts.load()

    assert "acme" in hosts.slugs()
    assert codes(hosts)["b-host 1.0"] == "duplicate_slug"


def test_no_distribution_takes_the_slug_of_a_built_in_host(install: Install) -> None:
    install("a-host", "pi", "hindnote_test_a")

    assert codes(Hosts.load())["a-host 1.0"] == "duplicate_slug"


def test_no_distribution_takes_the_slug_of_the_process_s_own_host(install: Install) -> None:
    install("a-host", "good", "hindnote_test_a")

    hosts = Hosts.load({"good": Good()})

    assert codes(hosts)["a-host 1.0"] == "duplicate_slug"
    assert hosts.identity(CALL).session_id == "s1"


def test_a_reserved_or_malformed_entry_point_is_refused_without_being_imported(
    install: Install,
) -> None:
    install("a-host", "human", "hindnote_test_a", "raise AssertionError('imported')")
    install("b-host", "Bad", "hindnote_test_b", "raise AssertionError('imported')")

    found = codes(Hosts.load())

    assert found["a-host 1.0"] == "reserved_slug"
    assert found["b-host 1.0"] == "invalid_slug"


def test_one_host_is_asked_without_importing_another(install: Install) -> None:
    install("acme-host", "acme", "hindnote_test_acme")
    install("other-host", "other", "hindnote_test_other", "raise AssertionError('imported')")

    hosts = Hosts.load()

    assert hosts.base_cwd(HostCall(host="acme", cwd=Path("/"))) == Path("/")
    assert "hindnote_test_other" not in sys.modules


def test_a_process_s_own_host_is_asked_without_looking_for_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def scan(**_: object) -> None:
        raise AssertionError("looked for entry points")

    monkeypatch.setattr("importlib.metadata.entry_points", scan)

    assert Hosts.load({"good": Good()}).base_cwd(CALL) == Path("/")


def test_a_process_s_own_host_is_known_again_among_the_entry_points(install: Install) -> None:
    install("acme-host", "acme", "hindnote_test_acme")
    own = __import__("hindnote_test_acme")

    hosts = Hosts.load({"acme": own})

    assert [r.source.distribution for r in hosts.report() if r.source.slug == "acme"] == [
        "acme-host 1.0"
    ]
    assert codes(hosts) == {name: code for name, code in codes(hosts).items() if "acme" not in name}


def test_what_a_plugin_prints_while_it_is_imported_does_not_reach_standard_output(
    install: Install, capsys: pytest.CaptureFixture[str]
) -> None:
    install("loud-host", "loud", "hindnote_test_loud", "print('noise')")

    Hosts.load().slugs()

    printed = capsys.readouterr()
    assert printed.out == ""
    assert "noise" in printed.err
