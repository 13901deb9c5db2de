from __future__ import annotations

import pytest

from hindnote.hosts.pi.format.shell import ending

TIMED_OUT = "\n\nCommand timed out after 2 seconds"


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("a\nb\n\n[Showing lines 8-9 of 9. Full output: /tmp/x.log]", "/tmp/x.log"),
        ("a\n\n[Showing lines 9-9 of 9 (50.0KB limit). Full output: /t/y z]", "/t/y z"),
        ("a\n\n[Showing last 50.0KB of line 7 (line is 1.2MB). Full output: /x]", "/x"),
        # These tell of other lines than those above them.
        ("a\n\n[Showing lines 8-9 of 9. Full output: /etc/passwd]", None),
        ("a\nb\n\n[Showing lines 1-2 of 9. Full output: /etc/passwd]", None),
        ("a\nb\n\n[Showing last 1B of line 2 (line is 2B). Full output: /etc/passwd]", None),
    ],
)
def test_a_notice_counts_without_a_record_only_if_it_tells_of_the_lines_above_it(
    text: str, path: str | None
) -> None:
    cut = ending(text + TIMED_OUT, failed=True, told=False).cut

    assert (cut.group(5) if cut else None) == path


def test_a_run_that_went_well_has_no_status_and_without_a_record_no_notice() -> None:
    text = "b\n\n[Showing lines 9-9 of 9. Full output: /x]"

    assert ending(text + TIMED_OUT, failed=False, told=False).body == text + TIMED_OUT
    assert ending(text, failed=False, told=False).cut is None
    assert ending(text, failed=False, told=True).body == "b"
