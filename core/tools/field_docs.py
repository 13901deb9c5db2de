"""Models whose JSON schema contains the docstring under each field.

pydantic's own ``use_attribute_docstrings`` parses the source of every model when it is imported,
which takes about a fifth of the start time of a one-shot call. Here the strings are read when a
schema is generated, which only happens when tools are declared.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict

if TYPE_CHECKING:
    from pydantic import GetJsonSchemaHandler
    from pydantic.json_schema import JsonSchemaValue
    from pydantic_core import CoreSchema


class Described(BaseModel):
    """Base of these models. A ``Field(description=…)`` takes precedence over the docstring."""

    # Building a validator, even this empty one, imports a large part of pydantic.
    model_config = ConfigDict(defer_build=True)

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Return the model's JSON schema with a description for each documented field."""
        schema = handler(core_schema)
        properties = handler.resolve_ref_schema(schema).get("properties", {})
        for name, text in field_docs(cls).items():
            field = cls.model_fields.get(name)
            shown = field.alias if field and field.alias else name
            if shown in properties:
                properties[shown].setdefault("description", text)
        return schema


@cache
def field_docs(model: type[BaseModel]) -> dict[str, str]:
    """Return the docstrings under the fields of a model and of its bases, by field name."""
    docs: dict[str, str] = {}
    for base in reversed(model.__mro__):
        if issubclass(base, BaseModel) and base is not BaseModel:
            docs.update(_own_docs(base))
    return docs


def _own_docs(model: type[BaseModel]) -> dict[str, str]:
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(model)))
    except (OSError, TypeError):
        return {}  # made without a source file
    docs = {}
    for definition in tree.body:
        body = definition.body if isinstance(definition, ast.ClassDef) else []
        for field, below in pairwise(body):
            if not isinstance(field, ast.AnnAssign) or not isinstance(field.target, ast.Name):
                continue
            match below:
                case ast.Expr(value=ast.Constant(value=str(text))):
                    docs[field.target.id] = inspect.cleandoc(text)
    return docs
