from __future__ import annotations

from pathlib import Path

import pytest

from hindnote.core.errors import Refused
from hindnote.core.places.cwd import resolve_cwd
from hindnote.core.text.messages import MESSAGE_LIMIT


def test_without_a_cwd_the_base_holds(tmp_path: Path) -> None:
    assert resolve_cwd(tmp_path, None) == tmp_path


def test_a_relative_cwd_starts_at_the_base(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)

    assert resolve_cwd(tmp_path / "a", "b") == tmp_path / "a" / "b"
    assert resolve_cwd(tmp_path / "a", "..") == tmp_path
    assert resolve_cwd(tmp_path, ".") == tmp_path


def test_an_absolute_cwd_stands_alone(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()

    assert resolve_cwd(Path("/"), str(tmp_path / "a")) == tmp_path / "a"


def test_a_link_to_a_directory_leads_to_it(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")

    assert resolve_cwd(tmp_path, "link") == tmp_path / "real"


@pytest.mark.parametrize(
    "cwd",
    ["", "absent", "file", "file/x", "loop", "a\0b", "x" * 300, "y/" * 3_000, "~", "a\ufffdb"],
)
def test_what_is_no_existing_directory_is_refused_with_what_to_do(tmp_path: Path, cwd: str) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "loop").symlink_to("loop")

    with pytest.raises(Refused) as caught:
        resolve_cwd(tmp_path, cwd)

    assert caught.value.code == "invalid_cwd"
    assert len(caught.value.refusal.message) < MESSAGE_LIMIT
    assert caught.value.refusal.message.endswith("or leave cwd out")


def test_a_directory_that_cannot_be_looked_at_is_refused_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def denied(self: Path) -> bool:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "is_dir", denied)

    with pytest.raises(Refused, match="Permission denied"):
        resolve_cwd(tmp_path, "a")
