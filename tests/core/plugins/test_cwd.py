"""No plugin offers a way around the one working-directory resolver, whatever it is made of."""

from __future__ import annotations

import types
from pathlib import Path

import pytest
from good_host import Good, refusal

from hindnote import hookimpl
from hindnote.core.plugins.hosts import Hosts
from hindnote.core.plugins.rules import RESERVED_NAMES


@pytest.mark.parametrize("name", sorted(RESERVED_NAMES))
def test_a_public_attribute_of_the_cwd_logic_is_refused(name: str) -> None:
    refused = refusal(type("Override", (Good,), {name: "anything"})())

    assert refused.code == "cwd_override"
    assert repr(name) in refused.reason


@pytest.mark.parametrize(
    "name", ["resolveCwd", "host_resolve_cwd", "RESOLVE_CWD", "HostProjectRoot"]
)
def test_another_spelling_of_the_cwd_logic_is_refused(name: str) -> None:
    assert refusal(type("Override", (Good,), {name: 1})()).code == "cwd_override"


def test_a_hookimpl_of_the_cwd_logic_is_refused_as_an_override() -> None:
    class Override(Good):
        @hookimpl
        def resolve_cwd(self, base: Path, cwd: str | None) -> Path:
            return base

    assert refusal(Override()).code == "cwd_override"


def test_an_attribute_set_on_the_instance_is_refused() -> None:
    plugin = Good()
    vars(plugin)["override_cwd"] = Path("/")

    assert refusal(plugin).code == "cwd_override"


def test_an_attribute_of_a_module_is_refused() -> None:
    module = types.ModuleType("overriding_host")
    vars(module)["select_project"] = lambda: "p"

    assert refusal(module).code == "cwd_override"


def test_an_attribute_of_a_class_and_of_its_metaclass_is_refused() -> None:
    class Meta(type):
        project_key = "p"

    class Static(metaclass=Meta):
        pass

    assert refusal(Static).code == "cwd_override"


def test_a_dynamic_attribute_is_refused() -> None:
    class Dynamic(Good):
        def __getattr__(self, name: str) -> str:
            if name == "project_root":
                return "/"
            raise AttributeError(name)

    assert refusal(Dynamic()).code == "cwd_override"


def test_a_dynamic_attribute_of_a_module_is_refused() -> None:
    module = types.ModuleType("dynamic_host")
    vars(module)["__getattr__"] = lambda name: name

    assert refusal(module).code == "cwd_override"


def test_a_name_that_only_dir_tells_is_refused() -> None:
    class Listed(Good):
        def __dir__(self) -> list[str]:
            return ["resolve_cwd"]

    assert refusal(Listed()).code == "cwd_override"


def test_a_name_imported_from_the_core_is_refused_with_the_way_out() -> None:
    from hindnote.core.places.cwd import resolve_cwd

    module = types.ModuleType("importing_host")
    vars(module)["resolve_cwd"] = resolve_cwd

    refused = refusal(module)

    assert refused.code == "cwd_override"
    assert "from hindnote.core.places.cwd import resolve_cwd as _resolve_cwd" in refused.reason


def test_a_private_name_of_the_cwd_logic_is_the_plugin_s_own() -> None:
    plugin = Good()
    vars(plugin)["_project_root"] = Path("/")

    assert Hosts.of({"good": plugin}).slugs() == ("good",)
