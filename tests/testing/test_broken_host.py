"""Each check of the kit fails for a host with a defect, and says how to mend it."""

from __future__ import annotations

from pathlib import Path

import pytest
from broken import DEFECTS, BrokenWriter, Defect, Host
from mutants import MUTANTS

from hindnote.testing import CHECKS, Bench

BY_NAME = {check.__name__: check for check in CHECKS}


@pytest.mark.parametrize("check", CHECKS, ids=list(BY_NAME))
def test_every_check_finds_a_defect(check: object) -> None:
    named = {defect.check for defect in DEFECTS.values()} | {name for name, *_ in MUTANTS.values()}

    assert check in {BY_NAME[name] for name in named}


@pytest.mark.parametrize("check", CHECKS, ids=list(BY_NAME))
def test_the_host_without_a_defect_passes(check: object, tmp_path: Path) -> None:
    BY_NAME[check.__name__](Bench(BrokenWriter(Host()), tmp_path))


@pytest.mark.parametrize("defect", DEFECTS.values(), ids=list(DEFECTS))
def test_a_defect_fails_its_check_with_a_message_that_says_how_to_mend_it(
    defect: Defect, tmp_path: Path
) -> None:
    with pytest.raises(AssertionError) as caught:
        BY_NAME[defect.check](Bench(BrokenWriter(defect.host), tmp_path))

    message = str(caught.value)
    assert [part for part in defect.told if part not in message] == [], message


def test_the_messages_are_different() -> None:
    told = [defect.told for defect in DEFECTS.values()]

    assert len(set(told)) == len(told)
