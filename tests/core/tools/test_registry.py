from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from hindnote.core.tools.operation import Hints, Operation, Params
from hindnote.core.tools.outcome import Result
from hindnote.core.tools.registry import NAMES, checked, registry


class Fine(Result):
    text: str


class Failing(Result):
    error: str


def operation(name: str, success: type[Result] = Fine) -> Operation[Any, Any]:
    return Operation(
        name=name,
        title=name,
        description=name,
        family="notes",
        params=Params,
        success=success,
        codes=frozenset(),
        hints=Hints(read_only=True),
        handle=lambda call, params: (_ for _ in ()).throw(AssertionError),
        render=lambda result: "",
    )


def test_the_registry_holds_the_seven_in_one_order() -> None:
    assert [each.name for each in registry().values()] == list(NAMES)
    assert len(NAMES) == 7


def test_an_operation_in_the_place_of_another_is_refused() -> None:
    assert checked("notes_list", operation("notes_list")).name == "notes_list"
    with pytest.raises(ValueError, match="'notes_read' is defined in the place of 'notes_list'"):
        checked("notes_list", operation("notes_read"))


def test_no_success_has_a_field_named_error() -> None:
    with pytest.raises(ValueError, match="'error'"):
        checked("notes_list", operation("notes_list", Failing))


def test_the_registry_is_immutable() -> None:
    with pytest.raises(TypeError):
        registry()["notes_list"] = operation("notes_list")  # type: ignore[index]


def test_all_seven_are_known_before_any_is_imported() -> None:
    assert tuple(registry()) == NAMES
    assert "notes_delete" not in registry()
    assert registry().get("notes_delete") is None


@pytest.mark.parametrize("name", NAMES)
def test_one_operation_s_call_imports_no_other_operation(name: str) -> None:
    code = (
        "import sys\nfrom hindnote.core.tools.registry import _MODULES, registry\n"
        f"assert registry()[{name!r}].name == {name!r}\n"
        f"others = set(_MODULES.values()) - {{_MODULES[{name!r}]}}\n"
        "print(sorted(others & set(sys.modules)))"
    )

    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )

    assert done.stdout == "[]\n"
