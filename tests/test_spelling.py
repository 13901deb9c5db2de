"""Field names, values and codes that programs see are spelt as in American English."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hindnote.core.errors import REFUSAL_CODES

ROOT = Path(__file__).parents[1]
DECLARATIONS = ("hosts/pi/extension/tools.json", "hosts/pi/extension/project-tools.json")
BRITISH = re.compile(
    r"(behavi|col|fav|flav|harb|hon|hum|lab|neighb|rum)our|(cent|met|theat)re\b|catalogue|dialogue"
    r"|(cancel|label|model|signal|travel)l(ed|ing)|(anal|paral)ys|licence|grey"
    r"|(author|canonical|capital|final|general|initial|normal|optim|organ|recogn|serial|summar)is"
)


def names(value: Any) -> Iterator[str]:
    """Yield the names of fields and the fixed values in a JSON Schema."""
    if isinstance(value, list):
        for item in value:
            yield from names(item)
    if isinstance(value, dict):
        yield from value.get("properties", {})
        yield from (item for item in value.get("enum", ()) if isinstance(item, str))
        for item in value.values():
            yield from names(item)


def test_names_and_codes_are_american() -> None:
    told = {*REFUSAL_CODES}
    for file in DECLARATIONS:
        told |= set(names(json.loads((ROOT / file).read_text())))

    assert {"neighborhood", "project_key", "contract_identity", "not_found"} <= told
    assert sorted(name for name in told if BRITISH.search(name)) == []


def test_british_spellings_are_found() -> None:
    for name in ("neighbourhood", "colour", "catalogue_state", "normalised", "labelled"):
        assert BRITISH.search(name), name
