"""Ceilings bound what is delivered, never what is given: long titles and keys are taken whole."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from hindnote.core.project.run import ToolAnswer

Run = Callable[..., ToolAnswer]


@pytest.mark.parametrize(("length", "clipped"), [(240, 0), (241, 1), (5_000, 1)])
def test_a_long_title_is_written_whole_and_its_clipping_told(
    base: Path, run: Run, length: int, clipped: int
) -> None:
    title = "t" * length

    answer = run("todo_create", title=title, priority="p1", body="")

    todo = answer.dto["data"]["todo"]
    assert todo["title"] == title[:240]
    assert answer.dto["completeness"]["complete"] is not bool(clipped)
    assert len(answer.dto["completeness"]["clipped"]) == clipped
    assert title in (base / todo["path"]).read_text()


@pytest.mark.parametrize(("length", "omitted"), [(256, 0), (257, 1)])
def test_a_long_key_is_written_whole_and_as_a_facet_counted(
    base: Path, run: Run, length: int, omitted: int
) -> None:
    key = "k" * length

    made = run("todo_create", title="x", priority="p1", body="", frontmatter={key: "needle"})

    assert f'{key}: "needle"' in (base / made.dto["data"]["todo"]["path"]).read_text()
    found = run("artifact_search", query="needle")
    facets = found.dto["completeness"]["collections"]["facets"]
    assert facets["omitted"] == omitted
    assert found.dto["completeness"]["complete"] is not bool(omitted)
    assert found.blocks[1].startswith("incomplete: facets" if omitted else "complete")


def test_tags_show_four_values_and_other_fields_three(base: Path, run: Run) -> None:
    values = list("abcde")
    frontmatter = {"tags": values, "owners": values}
    run("todo_create", title="x", priority="p1", body="needle", frontmatter=frontmatter)

    (row,) = run("artifact_search", query="needle").dto["data"]["results"]

    shown = {facet["name"]: facet.get("tags", facet.get("values")) for facet in row["facets"]}
    assert (shown["tags"], shown["owners"]) == (values[:4], values[:3])
