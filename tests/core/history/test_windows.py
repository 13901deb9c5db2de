from __future__ import annotations

from fake_sessions import FakeSource, SessionBuilder, bound_call

from hindnote.core.boot import SeenWindow, boot_block, take


def test_a_snapshot_holds_each_windows_range_size_and_time() -> None:
    builder = SessionBuilder()
    builder.user("a", created_at="2026-11-30T09:00:00Z")
    builder.answer()
    builder.call("c")
    builder.result("c")
    builder.leave([builder.user("left")])
    builder.window("summary")
    builder.user("b")

    seen = take(bound_call(FakeSource(builder)), 0.0)

    assert seen.windows == (
        SeenWindow(1, 5, 2, "2026-11-30T09:00:00Z"),
        SeenWindow(6, 7, 2, None),
    )


def test_a_session_without_slots_has_no_windows() -> None:
    assert take(bound_call(FakeSource(SessionBuilder())), 0.0).windows == ()


def test_the_block_names_the_bounds_that_list_a_window() -> None:
    builder = SessionBuilder()
    builder.user("a")

    assert '{"after_seq":0,"before_seq":2}' in boot_block(bound_call(FakeSource(builder)), 0.0)
