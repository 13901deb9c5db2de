"""Every rule by which a host plugin is refused, each with the plugin inside the test."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, get_args

import pluggy
import pytest
from good_host import Good, refusal

from hindnote import Decoration, HostCall, HostIdentity, SessionEntry, hookimpl, hookspecs
from hindnote.core.errors import RuleCode
from hindnote.core.plugins.hosts import Hosts
from hindnote.core.plugins.rules import new_manager, specified_hooks


def test_a_host_needs_three_hooks_and_no_more() -> None:
    assert Hosts.of({"good": Good()}).slugs() == ("good",)


def test_a_module_is_a_plugin() -> None:
    module = types.ModuleType("good_host")
    good = Good()

    @hookimpl
    def host_base_cwd(call: HostCall) -> Path:
        return good.host_base_cwd(call)

    @hookimpl
    def host_identity(call: HostCall) -> HostIdentity:
        return good.host_identity(call)

    @hookimpl
    def host_projection(call: HostCall, session: SessionEntry | None) -> None:
        return None

    vars(module).update(
        host_base_cwd=host_base_cwd, host_identity=host_identity, host_projection=host_projection
    )

    assert Hosts.of({"good": module}).slugs() == ("good",)


def test_a_class_with_static_methods_is_a_plugin() -> None:
    class Static:
        @staticmethod
        @hookimpl
        def host_base_cwd(call: HostCall) -> Path:
            return call.cwd

        @hookimpl
        @staticmethod
        def host_identity(call: HostCall) -> HostIdentity:
            return HostIdentity(host="good", session_id=None, agent="a", model="m")

        @classmethod
        @hookimpl
        def host_projection(cls, call: HostCall, session: SessionEntry | None) -> None:
            return None

    hosts = Hosts.of({"good": Static})

    assert hosts.identity(HostCall(host="good", cwd=Path("/"))).agent == "a"


def test_a_class_whose_methods_want_self_is_refused() -> None:
    refused = refusal(Good)

    assert refused.code == "wrong_signature"
    assert "instance" in refused.reason


@pytest.mark.parametrize("slug", ["Good", "", "-x", "a/b", "..", "x" * 65, "ü", "a b", "good\n"])
def test_a_name_that_is_no_slug_is_refused(slug: str) -> None:
    assert refusal(Good(), slug).code == "invalid_slug"


@pytest.mark.parametrize("slug", ["human", "project", "agents", "models", "session"])
def test_a_slug_that_names_a_folder_of_the_home_is_refused(slug: str) -> None:
    assert refusal(Good(), slug).code == "reserved_slug"


def test_an_unknown_hook_is_refused_with_the_nearest_name() -> None:
    class Misspelt(Good):
        @hookimpl
        def host_sesions(self, call: HostCall) -> Iterable[SessionEntry]:
            return []

    refused = refusal(Misspelt())

    assert refused.code == "unknown_hook"
    assert "'host_sessions'" in refused.reason


def test_a_hook_without_its_mark_is_refused() -> None:
    class Unmarked(Good):
        def host_sessions(self, call: HostCall) -> Iterable[SessionEntry]:
            return []

    assert refusal(Unmarked()).code == "unmarked_hook"


def test_a_hook_with_another_project_s_mark_is_refused() -> None:
    foreign = pluggy.HookimplMarker("pytest")

    class Foreign(Good):
        @foreign
        def host_decoration(self, operation: str) -> None:
            return None

    assert refusal(Foreign()).code == "unmarked_hook"


@pytest.mark.parametrize("missing", ["host_base_cwd", "host_identity", "host_projection"])
def test_a_missing_required_hook_is_refused_by_name(missing: str) -> None:
    functions = {name: value for name, value in vars(Good).items() if name.startswith("host_")}
    del functions[missing]

    refused = refusal(type("Short", (), functions)())

    assert refused.code == "missing_hook"
    assert refused.reason.startswith(f"lacks {missing};")


def _signatures() -> dict[str, Callable[..., Any]]:
    def renamed(self: Any, operations: str) -> None: ...
    def none(self: Any) -> None: ...
    def more(self: Any, operation: str, call: HostCall) -> None: ...
    def star(self: Any, *operation: str) -> None: ...
    def keywords(self: Any, **operation: str) -> None: ...
    def keyword_only(self: Any, *, operation: str) -> None: ...
    async def asynchronous(self: Any, operation: str) -> None: ...

    everything = (renamed, none, more, star, keywords, keyword_only, asynchronous)
    return {function.__name__: function for function in everything}


@pytest.mark.parametrize("function", _signatures().values(), ids=_signatures().keys())
def test_a_wrong_signature_is_refused(function: Callable[..., Any]) -> None:
    plugin = type("Wrong", (Good,), {"host_decoration": hookimpl(function)})()

    refused = refusal(plugin)

    assert refused.code == "wrong_signature"
    assert "def host_decoration(operation)" in refused.reason


def test_a_projection_that_ignores_its_session_is_refused() -> None:
    """It would answer every session of the catalogue with the current one."""

    class Deaf(Good):
        @hookimpl
        def host_projection(self, call: HostCall) -> None:  # type: ignore[override]
            return None

    assert refusal(Deaf()).code == "wrong_signature"


def test_an_argument_default_is_refused() -> None:
    class Defaulting(Good):
        @hookimpl
        def host_decoration(self, operation: str = "history_list") -> Decoration:
            return Decoration()

    assert refusal(Defaulting()).code == "argument_default"


def _generator(self: Any, call: HostCall) -> Any:
    return (yield)


@pytest.mark.parametrize(
    "options",
    [
        {"wrapper": True},
        {"hookwrapper": True},
        {"tryfirst": True},
        {"trylast": True},
        {"optionalhook": True},
        {"specname": "host_base_cwd"},
    ],
    ids=lambda options: next(iter(options)),
)
def test_a_hook_option_is_refused_by_name(options: dict[str, Any]) -> None:
    plugin = type("Optioned", (Good,), {"host_base_cwd": hookimpl(**options)(_generator)})()

    refused = refusal(plugin)

    assert refused.code == "hook_option"
    assert repr(next(iter(options))) in refused.reason


def test_a_wrapper_of_the_base_cwd_is_refused() -> None:
    class Wrapping(Good):
        @hookimpl(wrapper=True)
        def host_base_cwd(self, call: HostCall) -> Any:
            return (yield) / "elsewhere"

    refused = refusal(Wrapping())

    assert refused.code == "hook_option"
    assert "'host_base_cwd'" in refused.reason


def test_specname_does_not_smuggle_a_second_answer() -> None:
    class TwoFaced(Good):
        @hookimpl(specname="host_base_cwd")
        def elsewhere(self, call: HostCall) -> Path:
            return Path("/")

    assert refusal(TwoFaced()).code == "hook_option"


def test_optionalhook_does_not_smuggle_a_foreign_hook() -> None:
    class Foreign(Good):
        @hookimpl(optionalhook=True)
        def host_cwd(self, call: HostCall) -> Path:
            return Path("/")

    assert refusal(Foreign()).code == "hook_option"


def test_a_plugin_whose_attributes_cannot_be_listed_is_refused() -> None:
    class Unlisted(Good):
        def __dir__(self) -> list[str]:
            raise RuntimeError("no")

    assert refusal(Unlisted()).code == "unreadable_plugin"


def test_a_plugin_whose_attributes_cannot_be_asked_for_is_refused() -> None:
    class Raising(Good):
        def __getattr__(self, name: str) -> str:
            raise RuntimeError("no")

    assert refusal(Raising()).code == "unreadable_plugin"


@pytest.mark.parametrize("raised", [KeyError("x"), SystemExit(3)])
def test_a_plugin_whose_functions_cannot_be_had_is_refused(raised: BaseException) -> None:
    class Guarded(Good):
        def __getattribute__(self, name: str) -> Any:
            if name == "host_identity":
                raise raised
            return super().__getattribute__(name)

    assert refusal(Guarded()).code == "unreadable_plugin"


def test_a_function_without_a_sound_signature_is_refused() -> None:
    class Looped(Good):
        @hookimpl
        def host_decoration(self, operation: str) -> None:
            return None

    vars(Looped)["host_decoration"].__wrapped__ = vars(Looped)["host_decoration"]

    assert refusal(Looped()).code == "unreadable_plugin"


def test_a_decorated_function_has_the_signature_that_it_wraps() -> None:
    class Decorated(Good):
        @hookimpl
        @functools.lru_cache  # noqa: B019
        def host_decoration(self, operation: str) -> None:
            return None

    assert refusal(Decorated()).code == "unmarked_hook"


def test_a_plugin_that_shows_another_face_at_the_second_look_is_refused() -> None:
    class Shifting(Good):
        looks = 0

        def __dir__(self) -> list[str]:
            type(self).looks += 1
            names = [name for name in super().__dir__() if name != "late"]
            return names if self.looks == 1 else [*names, "late"]

        @hookimpl(specname="host_base_cwd")
        def late(self, call: HostCall) -> Path:
            return Path("/")

    assert refusal(Shifting()).code == "unreadable_plugin"


@pytest.mark.parametrize("name", specified_hooks(new_manager()))
def test_a_hook_documents_each_argument_and_what_it_returns(name: str) -> None:
    hook = getattr(hookspecs, name)
    documented = inspect.getdoc(hook) or ""

    for argument in inspect.signature(hook).parameters:
        assert f"    {argument}: " in documented
    assert "Returns:" in documented
    assert "Called " in documented


def test_no_hook_has_argument_defaults() -> None:
    for name in specified_hooks(new_manager()):
        parameters = inspect.signature(getattr(hookspecs, name)).parameters.values()
        assert all(parameter.default is parameter.empty for parameter in parameters)


def test_a_refusal_names_the_plugin_and_where_it_comes_from() -> None:
    message = str(refusal(object()))

    assert "'good'" in message
    assert "given directly" in message


def test_the_contract_has_a_rule_for_each_code() -> None:
    """``duplicate_slug`` and ``import_failed`` are found among entry points."""
    tests = Path(__file__).parent.glob("test_*.py")
    here = "".join(path.read_text("utf-8") for path in tests)

    assert [code for code in get_args(RuleCode) if f'"{code}"' not in here] == []
