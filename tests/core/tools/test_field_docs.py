from __future__ import annotations

from typing import Any

from pydantic import ConfigDict, Field, create_model

from hindnote.core.tools.field_docs import Described, field_docs
from hindnote.core.tools.schema import schema_of


class Inner(Described):
    deep: int
    """How deep."""


class Base(Described):
    model_config = ConfigDict(populate_by_name=True)

    first: str
    """The first,
    over two lines.
    """

    plain: int = 0


class Model(Base):
    """A model."""

    from_: str = Field(default="x", alias="from")
    """Where from."""

    said: int = Field(default=1, description="as said")
    """Not this."""

    inner: Inner | None = None
    """Inside."""

    rows: list[Inner] = Field(default_factory=list)


def described(schema: dict[str, Any]) -> dict[str, str | None]:
    return {name: part.get("description") for name, part in schema["properties"].items()}


def test_the_string_under_a_field_is_its_description() -> None:
    schema = schema_of(Model)

    assert described(schema) == {
        "first": "The first,\nover two lines.",
        "plain": None,
        "from": "Where from.",
        "said": "as said",
        "inner": "Inside.",
        "rows": None,
    }
    assert described(schema["$defs"]["Inner"]) == {"deep": "How deep."}


def test_descriptions_are_what_pydantic_itself_would_find() -> None:
    class Own(Base):
        model_config = ConfigDict(use_attribute_docstrings=True)

        x: int
        """About x."""

    class Ours(Base):
        x: int
        """About x."""

    assert described(Ours.model_json_schema()) == described(Own.model_json_schema())


def test_a_model_without_source_has_no_descriptions() -> None:
    made = create_model("Made", __base__=Described, x=(int, ...))

    assert field_docs(made) == {}
    assert described(made.model_json_schema()) == {"x": None}
