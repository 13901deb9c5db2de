"""Each mutant of the example host is killed by the check that is there to find it."""

from __future__ import annotations

from pathlib import Path

import pytest
from broken import BrokenWriter, Host
from mutants import MUTANTS

from hindnote.testing import CHECKS, Bench

BY_NAME = {check.__name__: check for check in CHECKS}


@pytest.mark.parametrize(("check", "host", "told"), MUTANTS.values(), ids=list(MUTANTS))
def test_a_mutant_is_killed_by_its_check(check: str, host: Host, told: str, tmp_path: Path) -> None:
    with pytest.raises(AssertionError) as caught:
        BY_NAME[check](Bench(BrokenWriter(host), tmp_path))

    assert told in str(caught.value)
