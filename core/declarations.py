"""Tool declarations, generated from the operation objects and written nowhere else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import to_builtins
from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue

if TYPE_CHECKING:
    from pydantic_core import core_schema

    from hindnote.core.operation import Operation

DESCRIPTION_LIMIT = 2_048
"""Characters of a description, at most: Claude Code cuts there."""


class _Compact(GenerateJsonSchema):
    """Schemas without titles and without the null of a field that may be left out.

    ``None`` as a default means "omitted" in parameters and "unset" in results, so
    null is offered only where the contract has it: a nullable field without default.
    """

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        inner = schema["schema"]
        if "default" in schema and schema["default"] is None:
            while inner["type"] == "nullable":
                inner = inner["schema"]
            return self.generate_inner(inner)
        return super().default_schema(schema)


def schema_of(model: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON schema of one model, closed, without titles."""
    return _trim(model.model_json_schema(schema_generator=_Compact))


def _trim(schema: dict[str, Any]) -> dict[str, Any]:
    for part in (schema, *schema.get("$defs", {}).values()):
        part.pop("title", None)
        # A model's docstring is written for readers of the code.
        if part.get("type") == "object":
            part.pop("description", None)
    return schema


def output_schema(operation: Operation[Any, Any]) -> dict[str, Any]:
    """Return the closed schema of an operation's wire result."""
    success = schema_of(operation.success)
    definitions = success.pop("$defs", {})
    refusal = {
        "type": "object",
        "properties": {
            "error": {"type": "string"},
            "code": {"type": "string", "enum": sorted(operation.codes)},
        },
        "required": ["error", "code"],
        "additionalProperties": False,
    }
    schema: dict[str, Any] = {"type": "object", "anyOf": [success, refusal]}
    if definitions:
        schema["$defs"] = definitions
    return schema


def declaration(operation: Operation[Any, Any]) -> dict[str, Any]:
    """Return one tool's declaration as JSON-ready data."""
    return {
        "name": operation.name,
        "title": operation.title,
        "description": operation.description,
        "inputSchema": schema_of(operation.params),
        "outputSchema": output_schema(operation),
        "hints": to_builtins(operation.hints),
    }
