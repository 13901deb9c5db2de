"""What a plugin's projection says of tool results, checked at the border."""

from __future__ import annotations

from array import array
from pathlib import Path
from typing import Any

import pytest
from good_host import Good

from hindnote import HostCall, SessionEntry, hookimpl
from hindnote.core.errors import HostFailure
from hindnote.core.history.projection import Branch, SessionHeader, SlotFacts, SlotKind
from hindnote.core.history.timeline import Timeline
from hindnote.core.plugins.hosts import Hosts
from hindnote.core.presentation.collect import shown_at
from hindnote.core.presentation.models import Text, Todo, Todos

TODOS = Todos(sentence="Done.", items=(Todo(text="One"),))


class Session:
    """A session of one result."""

    header = SessionHeader("good", "s1")
    last_seq = 1
    windows = (1,)
    damaged = ()

    def __init__(self) -> None:
        kinds = bytearray([SlotKind.RESULT])
        zero = array("q", [0])
        self.branch = Branch(array("q", [1]), kinds, zero, bytearray(1), call_ids={0: "c"})

    def facts(self, seq: int) -> SlotFacts:
        return SlotFacts(text="Done.", tool="todo", failed=False)


class Presenting(Session):
    def __init__(self, answer: Any) -> None:
        super().__init__()
        self.answer = answer

    def presentation(self, seq: int, result: int | None) -> Any:
        assert (seq, result) == (1, None)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def shown(session: Session) -> Any:
    class Host(Good):
        @hookimpl
        def host_projection(self, call: HostCall, session: SessionEntry | None) -> Any:
            return given

    given = session
    projection = Hosts.of({"good": Host()}).current(HostCall(host="good", cwd=Path("/")))
    assert projection is not None
    return shown_at(Timeline(projection), 0).presentation


def test_a_plugin_s_structure_is_shown_as_a_copy() -> None:
    found = shown(Presenting(TODOS))

    assert found == TODOS
    assert found is not TODOS


@pytest.mark.parametrize("session", [Session(), Presenting(None)])
def test_a_result_of_which_a_plugin_says_nothing_is_its_text(session: Session) -> None:
    found = shown(session)

    assert isinstance(found, Text)
    assert (found.text, found.tool) == ("Done.", "todo")


@pytest.mark.parametrize(
    "answer",
    [7, "text", Todo(text="one"), Todos.model_construct(sentence=7), RuntimeError("no")],
    ids=["number", "text", "part", "unchecked", "crash"],
)
def test_what_is_no_presentation_is_a_failure_of_the_plugin(answer: Any) -> None:
    with pytest.raises(HostFailure, match=r"presentation\(1\) of session s1"):
        shown(Presenting(answer))
