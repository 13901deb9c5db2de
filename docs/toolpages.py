"""The reference pages of the seven tools, from their declarations.

``python docs/toolpages.py`` writes ``docs/tools/<name>.md``. A test compares the pages
with what this would write, so they are never edited by hand.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from hindnote.core.tools.registry import registry
from hindnote.core.tools.schema import declaration

FOLDER = Path(__file__).parent / "tools"

Schema = Mapping[str, Any]


def page(name: str) -> str:
    """Return one tool's page."""
    declared = declaration(registry()[name])
    success, refusal = declared["outputSchema"]["anyOf"]
    definitions = {
        **declared["inputSchema"].get("$defs", {}),
        **declared["outputSchema"].get("$defs", {}),
    }
    parts = [
        f"<!-- Written by docs/toolpages.py. -->\n\n# `{name}`",
        f"**{declared['title']}.** {_prose(declared['description'])}",
        _hints(declared["hints"]),
        "## Parameters",
        _table(declared["inputSchema"]),
        "## Result",
        _table(success),
        *_definitions(definitions),
        "## Refusals",
        _refusals(refusal["properties"]["code"]["enum"]),
    ]
    return "\n\n".join(parts) + "\n"


def _hints(hints: Mapping[str, bool]) -> str:
    if hints["readOnly"]:
        return "It only reads."
    again = "the same result as" if hints["idempotent"] else "not the same result as"
    return f"It changes notes and can replace text. Calling it twice has {again} calling it once."


def _table(schema: Schema) -> str:
    rows = list(_rows(schema))
    if not rows:
        return "None."
    return "\n".join(["| field | type | meaning |", "| --- | --- | --- |", *rows])


def _rows(schema: Schema) -> Iterator[str]:
    required = schema.get("required", [])
    for name, field in schema.get("properties", {}).items():
        notes = []
        if name not in required and "default" not in field:
            notes.append("Optional.")
        if "default" in field:
            notes.append(f"By default `{json.dumps(field['default'])}`.")
        if "minimum" in field or "maximum" in field:
            notes.append(_range(field))
        notes.append(_prose(field.get("description", "")))
        yield f"| `{name}` | {_type(field)} | {' '.join(filter(None, notes))} |"


def _range(field: Schema) -> str:
    low, high = field.get("minimum"), field.get("maximum")
    if high is None:
        return f"At least {low:,}."
    return f"{low:,} to {high:,}." if low is not None else f"At most {high:,}."


def _type(field: Schema) -> str:
    if "$ref" in field:
        name = field["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "enum" in field:
        return ", ".join(f"`{value}`" for value in field["enum"])
    if "const" in field:
        return f"`{json.dumps(field['const'])}`"
    if "anyOf" in field:
        return " or ".join(_type(each) for each in field["anyOf"])
    if field["type"] == "array":
        return f"list of {_type(field['items'])}"
    if field["type"] == "object" and isinstance(field.get("additionalProperties"), dict):
        return f"object of {_type(field['additionalProperties'])}"
    return str(field["type"])


def _definitions(definitions: Mapping[str, Schema]) -> Iterator[str]:
    for name, schema in sorted(definitions.items()):
        if "properties" in schema:
            yield f"### {name}"
            yield _table(schema)


def _refusals(codes: list[str]) -> str:
    return ", ".join(f"[`{code}`](../refusals/{code}.md)" for code in codes)


def _prose(text: str) -> str:
    """Return a description as Markdown: what looks like markup outside of code is none."""
    parts = " ".join(text.split()).split("`")
    for index in range(0, len(parts), 2):
        parts[index] = re.sub(r"([*<|])", r"\\\1", parts[index])
    return "`".join(parts)


def main() -> None:
    """Write all pages."""
    for name in registry():
        (FOLDER / f"{name}.md").write_text(page(name), "utf-8")


if __name__ == "__main__":
    main()
