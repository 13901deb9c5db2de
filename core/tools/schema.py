"""Tool declarations, generated from the operation objects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import to_builtins
from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue

if TYPE_CHECKING:
    from pydantic_core import core_schema

    from hindnote.core.tools.operation import Operation

DESCRIPTION_LIMIT = 2_048
"""Maximum length of a description, in characters: Claude Code cuts it there."""


class _Compact(GenerateJsonSchema):
    """Generates schemas without titles, and without null for fields that may be omitted.

    ``None`` as a default means "omitted" in parameters and "unset" in results. So null is only
    allowed where the contract has it: for a nullable field without a default.
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
    """Return the JSON schema of one model, without titles; it allows no unknown properties."""
    return _trim(model.model_json_schema(schema_generator=_Compact))


def input_schema(model: type[BaseModel]) -> dict[str, Any]:
    """Return the schema of a tool's parameters, with each definition inlined where it is used.

    Strict clients drop a tool whose input schema contains ``$ref`` or ``$defs``.
    """
    schema = schema_of(model)
    definitions = schema.pop("$defs", {})
    plain: dict[str, Any] = _plain(schema, definitions)
    return plain


def _plain(part: Any, definitions: dict[str, Any]) -> Any:
    if isinstance(part, list):
        return [_plain(item, definitions) for item in part]
    if not isinstance(part, dict):
        return part
    name = part.get("$ref", "").removeprefix("#/$defs/")
    whole = {**definitions[name], **part} if name else part
    match whole:
        case {"anyOf": [{"type": str(kind), **facts}, {"type": "null"}], **more}:
            whole = {**more, **facts, "type": [kind, "null"]}
    return {key: _plain(value, definitions) for key, value in whole.items() if key != "$ref"}


def opened(schema: Any) -> Any:
    """Return an input schema without ``additionalProperties: false``.

    For hosts that send the schema with every request: the keyword tells a model nothing new and
    costs 29 bytes per object. The core rejects unknown fields anyway, and lists the known ones.
    """
    if isinstance(schema, list):
        return [opened(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    closing = "additionalProperties"
    return {key: opened(part) for key, part in schema.items() if (key, part) != (closing, False)}


def _trim(schema: dict[str, Any]) -> dict[str, Any]:
    for part in (schema, *schema.get("$defs", {}).values()):
        part.pop("title", None)
        # A model's docstring is written for readers of the code, not for the agent.
        if part.get("type") == "object":
            part.pop("description", None)
    return schema


def output_schema(operation: Operation[Any, Any]) -> dict[str, Any]:
    """Return the schema of an operation's wire result, success or refusal."""
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
        "inputSchema": input_schema(operation.params),
        "outputSchema": output_schema(operation),
        "hints": to_builtins(operation.hints),
    }
