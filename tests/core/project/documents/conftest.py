from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def write(base: Path) -> Callable[..., Path]:
    """Return a function that writes a document, frontmatter given as YAML lines."""

    def document(path: str, body: str = "", *lines: str) -> Path:
        place = base / path
        place.parent.mkdir(parents=True, exist_ok=True)
        block = "".join(f"{line}\n" for line in ("---", *lines, "---")) if lines else ""
        place.write_bytes((block + body).encode("utf-8", "surrogateescape"))
        return place

    return document


@pytest.fixture
def paths(run: Callable[..., Any]) -> Callable[..., list[str]]:
    """Return a function that searches and returns the hits' paths."""

    def search(query: str = "", **arguments: Any) -> list[str]:
        dto = run("artifact_search", query=query, **arguments).dto
        assert dto["ok"], dto
        return [row["path"] for row in dto["data"]["results"]]

    return search
