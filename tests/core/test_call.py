"""One call from start to finish, with operations and hosts made for the test."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from hindnote import Decoration, HostCall, HostIdentity, Refused, SessionEntry, hookimpl
from hindnote.core.call import Answer, Dispatcher
from hindnote.core.delivery.budget import OUTPUT_BUDGET_BYTES
from hindnote.core.errors import HostFailure, Refusal, RefusalCode
from hindnote.core.plugins.hosts import Hosts
from hindnote.core.tools.operation import ArgumentError, BoundCall, Family, Hints, Operation, Params
from hindnote.core.tools.outcome import Outcome, Result, Success


class Toy(Params):
    text: str = ""
    cwd: str | None = None


class Told(Result):
    text: str
    note: str | None = None


Handle = Callable[[BoundCall, Toy], Outcome[Told]]

OPERATIONS: dict[str, Operation[Any, Any]] = {}


@pytest.fixture(autouse=True)
def only_toy_operations(monkeypatch: pytest.MonkeyPatch) -> None:
    """A dispatcher takes no operations but the registry's, so a test replaces the registry."""
    monkeypatch.setattr("hindnote.core.call.registry", lambda: MappingProxyType(OPERATIONS))


class Host:
    asked: list[str]

    def __init__(self) -> None:
        self.asked = []

    @hookimpl
    def host_base_cwd(self, call: HostCall) -> Path:
        self.asked.append("base_cwd")
        return call.cwd

    @hookimpl
    def host_identity(self, call: HostCall) -> HostIdentity:
        self.asked.append("identity")
        return HostIdentity(host="toy", session_id="s 1", agent="The Root", model="Lab/Model 1")

    @hookimpl
    def host_projection(self, call: HostCall, session: SessionEntry | None) -> None:
        return None

    @hookimpl
    def host_decoration(self, operation: str) -> Decoration:
        self.asked.append("decoration")
        return Decoration(prefix="<h>\n", suffix="\n</h>")


def dispatcher(
    handle: Handle, home: Path, family: Family = "notes", host: object | None = None
) -> Dispatcher:
    codes: frozenset[RefusalCode] = frozenset({"not_found", "invalid_cwd"})
    operation = Operation(
        name="toy",
        title="Toy",
        description="A toy.",
        family=family,
        params=Toy,
        success=Told,
        codes=codes,
        hints=Hints(read_only=True),
        handle=handle,
        render=lambda result: f"told: {result.text}",
    )
    OPERATIONS["toy"] = operation
    return Dispatcher(Hosts.of({"toy": host or Host()}), home)


def echo(call: BoundCall, params: Toy) -> Outcome[Told]:
    return Success(Told(text=params.text), {"before": "x"})


def ask(tmp_path: Path, handle: Handle = echo, **arguments: Any) -> Answer:
    return dispatcher(handle, tmp_path).call(HostCall(host="toy", cwd=tmp_path), "toy", arguments)


def test_a_success_comes_in_every_form(tmp_path: Path) -> None:
    answer = ask(tmp_path, text="hé")

    assert answer.result == {"text": "hé"}
    assert answer.structured() == '{"text":"hé"}'
    assert answer.text == "told: hé"
    assert not answer.is_error
    assert answer.packaged() == {
        "result": {"text": "hé"},
        "text": "told: hé",
        "isError": False,
        "extras": {"before": "x"},
    }


@pytest.mark.parametrize("raised", [True, False])
def test_a_refusal_comes_in_every_form(tmp_path: Path, raised: bool) -> None:
    def refuse(call: BoundCall, params: Toy) -> Outcome[Told]:
        if raised:
            raise Refused("not_found", "no “é”")
        return Refusal("not_found", "no “é”")

    answer = ask(tmp_path, refuse)

    assert answer.is_error
    assert answer.text == "error: not_found: no “é”"
    assert answer.structured() == '{"error":"no “é”","code":"not_found"}'
    assert json.loads(answer.structured()) == answer.result
    assert answer.packaged()["isError"] is True


def test_a_handler_s_crash_is_never_dressed_up_as_a_refusal(tmp_path: Path) -> None:
    def crash(call: BoundCall, params: Toy) -> Outcome[Told]:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        ask(tmp_path, crash)


def test_an_undeclared_code_is_a_host_failure(tmp_path: Path) -> None:
    def refuse(call: BoundCall, params: Toy) -> Outcome[Told]:
        raise Refused("locked", "held")

    with pytest.raises(HostFailure, match="undeclared"):
        ask(tmp_path, refuse)


def test_a_bad_argument_is_an_argument_error_before_the_host_is_asked(tmp_path: Path) -> None:
    host = Host()

    with pytest.raises(ArgumentError):
        dispatcher(echo, tmp_path, host=host).call(
            HostCall(host="toy", cwd=tmp_path), "toy", {"nope": 1}
        )

    assert host.asked == []


def test_an_unknown_operation_is_a_host_failure_that_names_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(HostFailure, match="there are: toy"):
        dispatcher(echo, tmp_path).call(HostCall(host="toy", cwd=tmp_path), "nope", {})


def test_each_question_is_asked_once_and_notes_ask_for_no_decoration(tmp_path: Path) -> None:
    host = Host()

    dispatcher(echo, tmp_path, host=host).call(HostCall(host="toy", cwd=tmp_path), "toy", {})

    assert host.asked == ["base_cwd", "identity"]


def test_a_call_is_bound_to_slugs_and_to_its_resolved_directory(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    bound: list[BoundCall] = []

    def keep(call: BoundCall, params: Toy) -> Outcome[Told]:
        bound.append(call)
        return echo(call, params)

    ask(tmp_path, keep, cwd="sub")

    call = bound[0]
    assert (call.base_cwd, call.cwd) == (tmp_path, tmp_path / "sub")
    assert (call.identity.agent, call.identity.model) == ("the-root", "lab-model-1")
    assert call.identity.session_id == "s 1"
    assert call.identity.home == tmp_path


def test_a_plugin_never_sees_the_call_s_own_cwd(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    seen: list[HostCall] = []

    class Watching(Host):
        @hookimpl
        def host_base_cwd(self, call: HostCall) -> Path:
            seen.append(call)
            return call.cwd

    dispatcher(echo, tmp_path, host=Watching()).call(
        HostCall(host="toy", cwd=tmp_path), "toy", {"cwd": "sub"}
    )

    assert "sub" not in repr(seen)


def test_a_cwd_that_is_no_directory_is_refused(tmp_path: Path) -> None:
    assert ask(tmp_path, cwd="absent").result["code"] == "invalid_cwd"


def test_a_decoration_stands_around_a_success_of_history_alone(tmp_path: Path) -> None:
    call = HostCall(host="toy", cwd=tmp_path)

    assert dispatcher(echo, tmp_path).call(call, "toy", {"text": "x"}).text == "told: x"
    assert (
        dispatcher(echo, tmp_path, "history").call(call, "toy", {"text": "x"}).text
        == "<h>\ntold: x\n</h>"
    )
    refused = dispatcher(echo, tmp_path, "history").call(call, "toy", {"cwd": "absent"})
    assert refused.text.startswith("error: invalid_cwd: ")


def test_a_handler_knows_the_room_that_the_decoration_leaves(tmp_path: Path) -> None:
    def measure(call: BoundCall, params: Toy) -> Outcome[Told]:
        return Success(Told(text=call.budget.decoration.prefix))

    answer = dispatcher(measure, tmp_path, "history").call(
        HostCall(host="toy", cwd=tmp_path), "toy", {}
    )

    assert answer.result == {"text": "<h>\n"}


def test_a_result_over_the_budget_is_a_host_failure_and_is_not_clipped(tmp_path: Path) -> None:
    with pytest.raises(HostFailure, match="output budget"):
        ask(tmp_path, text="x" * OUTPUT_BUDGET_BYTES)
