from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fake_sessions import FakeSource, SessionBuilder, bound_call
from msgspec.structs import replace

from hindnote.core.errors import HostFailure, Refused
from hindnote.core.history.sessions import Sessions
from hindnote.core.text.messages import MESSAGE_LIMIT

MAIN = "01a22be3-c9bc-7148"


def source() -> FakeSource:
    return FakeSource(
        SessionBuilder(MAIN),
        SessionBuilder(f"{MAIN}/agent-1", parent=MAIN),
        SessionBuilder("01a22be3-ffff", cwd="/w/other", started="2026-11-30T09:00:00Z"),
        SessionBuilder("01a2", host="claude"),
        SessionBuilder("feed-0001", host="claude"),
    )


def sessions(found: FakeSource | None = None, **call: Any) -> Sessions:
    return Sessions(bound_call(source() if found is None else found, **call))


@pytest.mark.parametrize(
    ("selector", "name"),
    [
        (f"pi:{MAIN}", f"pi:{MAIN}"),
        (MAIN, f"pi:{MAIN}"),
        ("01a22be3-c", f"pi:{MAIN}"),
        (f"{MAIN}/", f"pi:{MAIN}/agent-1"),
        (f"{MAIN}/agent-1", f"pi:{MAIN}/agent-1"),
        ("01a2", "claude:01a2"),
        ("feed", "claude:feed-0001"),
        ("claude:feed", "claude:feed-0001"),
    ],
)
def test_a_selector_names_one_session(selector: str, name: str) -> None:
    header = sessions().one(selector)[0].header

    assert f"{header.host}:{header.session_id}" == name


@pytest.mark.parametrize(
    ("selector", "code"),
    [
        ("", "invalid_session"),
        (" ", "invalid_session"),
        ("@other", "invalid_session"),
        ("pi:01*", "invalid_session"),
        ("*", "invalid_session"),
        ("pi:*", "invalid_session"),
        ("01a", "invalid_session"),
        ("01a22be3", "ambiguous_session"),
        ("nowhere", "unknown_session"),
        ("pi:feed-0001", "unknown_session"),
        ("else:feed-0001", "unknown_session"),
        (f"{MAIN}/agent-9", "unknown_session"),
        ("@parent", "unknown_session"),
    ],
)
def test_a_selector_that_names_none_or_several_is_refused(selector: str, code: str) -> None:
    with pytest.raises(Refused) as caught:
        sessions().one(selector)

    assert caught.value.code == code


def test_a_session_whose_file_has_gone_is_told_from_one_that_never_was(tmp_path: Path) -> None:
    (tmp_path / "claude/session/01a22be4-gone").mkdir(parents=True)
    bound = bound_call(source())
    asking = Sessions(replace(bound, identity=replace(bound.identity, home=tmp_path)))

    def told(selector: str) -> str:
        with pytest.raises(Refused) as caught:
            asking.one(selector)
        assert caught.value.code == "unknown_session"
        return caught.value.refusal.message

    assert "has no file any more" in told("claude:01a22be4-gone")
    assert "has no file any more" in told("01a22be4-gone")
    assert "no session" in told("01a22be4-none")
    assert "no session" in told("pi:01a22be4-gone")


def test_the_parent_of_a_fork_whose_file_has_gone_is_told_as_such() -> None:
    found = FakeSource(SessionBuilder("01a22be3-fork", parent="01a22be4-gone"))

    with pytest.raises(Refused) as caught:
        sessions(found).one("01a22be4-gone")

    assert "has no file any more" in caught.value.refusal.message


def test_candidates_come_with_time_and_directory() -> None:
    with pytest.raises(Refused) as caught:
        sessions().one("01a22be3")

    message = caught.value.refusal.message
    assert f"pi:{MAIN} (no time recorded, no directory recorded)" in message
    assert "pi:01a22be3-ffff (2026-11-30T09:00:00Z, /w/other)" in message


def test_many_long_candidates_leave_room_for_the_count() -> None:
    builders = [SessionBuilder(f"same{'x' * 200}{n}", cwd="/deep" * 200) for n in range(30)]

    with pytest.raises(Refused) as caught:
        sessions(FakeSource(*builders)).one("same")

    message = caught.value.refusal.message
    assert len(message) < MESSAGE_LIMIT
    assert message.count("pi:same") == 10
    assert "and 20 more" in message


def test_parent_names_the_session_that_this_one_was_forked_from() -> None:
    fork = SessionBuilder("fork", parent="origin")
    found = FakeSource(fork, SessionBuilder("origin"))

    assert sessions(found).one("@parent")[0].header.session_id == "origin"


def test_a_parent_that_is_gone_is_refused_by_name() -> None:
    with pytest.raises(Refused) as caught:
        sessions(FakeSource(SessionBuilder("fork", parent="origin"))).one("@parent")

    assert caught.value.code == "unknown_session"
    assert "pi:origin" in caught.value.refusal.message


def test_an_unreadable_session_is_refused_when_it_is_named() -> None:
    found = source()
    found.unreadable.add("claude:feed-0001")

    with pytest.raises(Refused) as caught:
        sessions(found).one("feed")

    assert caught.value.code == "unreadable_session"


def test_the_running_session_is_asked_of_its_host_as_it_stands() -> None:
    found = source()

    assert sessions(found, session_id=MAIN).one(MAIN)[0].header.session_id == MAIN
    assert found.opened == []


def test_a_running_session_without_a_file_can_be_named_and_is_in_every_wildcard() -> None:
    running = SessionBuilder("live-1")
    found = FakeSource(SessionBuilder("old-1"), current=running)
    named = sessions(found, session_id="live-1")

    assert named.one("pi:live-1")[0].header.session_id == "live-1"
    assert [target.canonical for target in named.many("*")] == ["pi:live-1", "pi:old-1"]


def test_a_subagents_own_session_is_the_running_one() -> None:
    found = source()
    found.running = found.builders[1]

    one, _ = sessions(found, session_id=MAIN, agent_id="agent-1").one(f"{MAIN}/agent-1")

    assert one.header.session_id == f"{MAIN}/agent-1"
    assert found.opened == []


@pytest.mark.parametrize(
    ("selector", "count"), [("*", 5), ("pi:*", 3), ("claude:*", 2), ("project:*", 2)]
)
def test_wildcards_name_many_newest_first(selector: str, count: int, tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "sub").mkdir()
    found = FakeSource(
        SessionBuilder("s1", cwd=str(tmp_path / "sub")),
        SessionBuilder("s2", cwd="/elsewhere"),
        SessionBuilder("s3", cwd=str(tmp_path)),
        SessionBuilder("s4", host="claude"),
        SessionBuilder("s5", host="claude", cwd="relative"),
    )

    named = [target.canonical for target in sessions(found, cwd=tmp_path).many(selector)]

    assert len(named) == count
    assert named == sorted(named, key=lambda name: name[-1])


def test_a_wildcard_of_no_installed_host_is_refused() -> None:
    with pytest.raises(Refused) as caught:
        sessions().many("else:*")

    assert caught.value.code == "invalid_session"
    assert "claude, pi" in caught.value.refusal.message


def test_a_failing_host_hides_no_session_of_the_others() -> None:
    found = source()
    found.failing.add("claude")

    assert sessions(found).one("01a22be3-f")[0].header.session_id == "01a22be3-ffff"
    assert sessions(found, host="claude").one(f"pi:{MAIN}")[0].header.session_id == MAIN


def test_a_session_that_no_other_has_is_not_called_unknown_while_a_host_fails() -> None:
    found = source()
    found.failing.add("claude")

    with pytest.raises(HostFailure, match="'claude'"):
        sessions(found).one("feed")


def test_the_calls_own_host_must_answer_before_another_host_s_session_is_meant() -> None:
    found = source()
    found.failing.add("claude")

    with pytest.raises(HostFailure, match="'claude'"):
        sessions(found, host="claude").one("01a22be3-f")


def test_what_many_sessions_lack_is_kept_with_its_reason_and_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    found = source()
    found.failing.add("claude")
    asked = sessions(found)

    assert {target.canonical.partition(":")[0] for target in asked.many("*")} == {"pi"}
    assert list(asked.failures) == ["claude"]
    assert "failed in host_sessions" in caplog.text
