from __future__ import annotations

from fake_sessions import FakeSource, SessionBuilder, bound_call

from hindnote.core.boot.block import SeenWindow, boot_block, take


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
        SeenWindow(1, 5, 2, 1_796_029_200.0),
        SeenWindow(6, 7, 2, None),
    )


def test_a_session_without_slots_has_no_windows() -> None:
    assert take(bound_call(FakeSource(SessionBuilder())), 0.0).windows == ()


def test_the_block_names_the_bounds_of_the_window_before_the_one_that_begins() -> None:
    builder = SessionBuilder()
    builder.user("a")
    builder.window("summary")
    builder.user("b")
    builder.window("summary of both")

    block = boot_block(bound_call(FakeSource(builder)), 0.0)

    assert 'The window before this one: history_list {"after_seq":1,"before_seq":4}' in block


def test_the_block_of_a_first_window_asks_nobody_to_read_what_is_in_context() -> None:
    builder = SessionBuilder()
    builder.user("a")

    block = boot_block(bound_call(FakeSource(builder)), 0.0)

    assert "window 1" not in block
    assert "before_seq" not in block
