"""The page about the project tools names what there is."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

from hindnote.core.project.contract.envelope import FailureCode
from hindnote.core.project.tools import TOOLS
from hindnote.hosts import pi

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "project-tools.md").read_text("utf-8")


@pytest.mark.parametrize("name", [*TOOLS, *get_args(FailureCode)])
def test_every_tool_and_failure_code_is_documented(name: str) -> None:
    assert f"`{name}`" in PAGE


@pytest.mark.parametrize(
    "name",
    [
        name
        for name in pi.__all__
        if re.fullmatch(r"MAX_\w+|PREVIEW_CHARS", name) and name != "MAX_ID_DIGITS"
    ],
)
def test_every_ceiling_is_documented(name: str) -> None:
    assert re.search(rf"(?<![\d,]){getattr(pi, name):,}(?![\d,])", PAGE)


def test_the_example_profile_works(tmp_path: Path) -> None:
    from hindnote.core.project.documents import profiles

    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    module: dict[str, object] = {}
    exec(code, module)  # noqa: S102 - the page's own example
    (tmp_path / "docs" / "decisions").mkdir(parents=True)

    class Provider:
        artifact_profile = staticmethod(module["artifact_profile"])  # type: ignore[arg-type]

    (profile,) = profiles.ask(profiles.manager({"page": Provider()}), tmp_path).active
    assert profile.name == "decisions"
