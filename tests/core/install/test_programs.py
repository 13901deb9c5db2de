from __future__ import annotations

import sys
from pathlib import Path

import pytest

from hindnote.core.install import programs
from hindnote.core.install.programs import dotted, told_version, version_in


@pytest.fixture
def program(tmp_path: Path) -> Path:
    program = tmp_path / "some"
    program.write_text("#!/bin/sh\nprintf '1.2\\377'; echo warned >&2; exit 3\n")
    program.chmod(0o755)
    return program


def test_both_streams_are_told_whatever_they_hold(program: Path) -> None:
    assert told_version(str(program)) == ("1.2\ufffd", "warned\n")


def test_a_program_that_cannot_be_run_tells_nothing(program: Path) -> None:
    program.chmod(0o644)

    assert told_version(str(program)) is None
    assert told_version(str(program.parent / "none")) is None


def test_a_program_that_does_not_end_tells_nothing(
    program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(programs, "PATIENCE", 0.1)
    program.write_text(f"#!{sys.executable}\nimport signal\nsignal.pause()\n")

    assert told_version(str(program)) is None


def test_a_version_is_written_with_dots() -> None:
    assert dotted((2, 1, 332)) == "2.1.332"


def test_a_version_is_found_in_either_stream() -> None:
    assert version_in(("v22.19.0\n", "")) == (22, 19, 0)
    assert version_in(("", "pi 1.5")) == (1, 5)
    assert version_in(("none", "5")) is None
    assert version_in(None) is None
