"""Ways to decide what is the core's alone, from a plugin or a host: each is refused or has no effect."""

from __future__ import annotations

import functools
import os
import sys
import threading
from array import array
from collections.abc import Callable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import Any

import pytest

from hindnote import Decoration, HostCall, HostIdentity, Refused, SessionEntry, hookimpl
from hindnote.core.call import Dispatcher
from hindnote.core.errors import HostFailure, Refusal
from hindnote.core.history.projection import (
    Branch,
    Damage,
    NestedCalls,
    SessionHeader,
    SlotFacts,
    SlotKind,
)
from hindnote.core.plugins.hosts import Hosts

CLEAN = "created"


class Session:
    """A projection of one thing that a person said."""

    def __init__(self, **changed: Any) -> None:
        self.header: Any = SessionHeader("good", "s1")
        self.last_seq: Any = 1
        self.windows: Any = (1,)
        self.damaged: Any = ()
        self.branch: Any = branch()
        self.answer: Any = SlotFacts(created_at="2026-03-01T10:00:00Z", text="needle")
        vars(self).update(changed)

    def facts(self, seq: int) -> Any:
        return self.answer() if callable(self.answer) else self.answer


def branch(**changed: Any) -> Branch:
    made = Branch(
        seqs=array("q", [1]),
        kinds=bytearray([SlotKind.USER]),
        answers=array("q", [0]),
        closing=bytearray([1]),
        lineage=object(),
    )
    for name, value in changed.items():
        setattr(made, name, value)
    return made


class Good:
    """A host with one session, of which a test replaces single answers."""

    def __init__(self, **answers: Callable[..., Any]) -> None:
        self.answers = answers

    def _answer(self, name: str, given: Any, default: Any) -> Any:
        return self.answers[name](given) if name in self.answers else default

    @hookimpl
    def host_base_cwd(self, call: HostCall) -> Any:
        return self._answer("cwd", call, call.cwd)

    @hookimpl
    def host_identity(self, call: HostCall) -> Any:
        return self._answer("identity", call, identity())

    @hookimpl
    def host_projection(self, call: HostCall, session: SessionEntry | None) -> Any:
        return self._answer("projection", session, Session())

    @hookimpl
    def host_sessions(self, call: HostCall) -> Any:
        return self._answer("sessions", call, [entry()])

    @hookimpl
    def host_decoration(self, operation: str) -> Any:
        return self._answer("decoration", operation, None)


def identity(**changed: Any) -> HostIdentity:
    fields = {"host": "good", "session_id": "s1", "agent": "a", "model": "m", **changed}
    return HostIdentity.model_construct(**{"tool_prefix": "", **fields})


def entry(**changed: Any) -> SessionEntry:
    fields = {"host": "good", "id": "s1", "file": Path("/s1"), "modified": 1.0, **changed}
    return SessionEntry(**fields)


class World:
    """A home, a project directory and a directory to which an attack would lead."""

    def __init__(self, folder: Path) -> None:
        self.home, self.project, self.evil = (folder / n for n in ("home", "project", "evil"))
        self.project.mkdir()
        self.evil.mkdir()
        self.call = HostCall(host="good", cwd=self.project)

    def ask(self, plugin: object, name: str, /, **arguments: Any) -> Any:
        return Dispatcher(Hosts.of({"good": plugin}), self.home).call(self.call, name, arguments)

    def write(self, plugin: object, /, **more: Any) -> Any:
        return self.ask(plugin, "notes_write", address="n", content="x", **more)

    def files(self) -> list[str]:
        found = (path.relative_to(self.home) for path in self.home.rglob("n.md"))
        return sorted(str(path) for path in found)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


# -- the working directory -----------------------------------------------------

Plain: Any = type(Path())


class Joining(Plain):  # type: ignore[misc]
    def __truediv__(self, key: object) -> Path:
        return Path("/")

    def is_dir(self, **options: bool) -> bool:
        return True

    def exists(self, **options: bool) -> bool:
        return True

    def resolve(self, strict: bool = False) -> Path:
        return Path("/")


class Absolute(Plain):  # type: ignore[misc]
    def is_absolute(self) -> bool:
        return True

    def is_dir(self, **options: bool) -> bool:
        return True


class TextPath(str):
    __slots__ = ()

    def __truediv__(self, key: object) -> Path:
        return Path("/")


class Unhashable(Plain):  # type: ignore[misc]
    def __fspath__(self) -> str:
        raise RuntimeError("no")


class Bytes(Plain):  # type: ignore[misc]
    def __fspath__(self) -> bytes:
        return b"/"


class Pretender:
    """An object that says it is a path."""

    __class__ = Plain  # type: ignore[assignment]

    def __fspath__(self) -> str:
        return "/"

    def is_absolute(self) -> bool:
        return True

    def is_dir(self) -> bool:
        return True


def poisoned(path: Path) -> Path:
    """Return a path of the plain class whose remembered text is another class's."""

    class Text(str):
        __slots__ = ()

        def __str__(self) -> str:
            return "/"

    made = Path(path)
    str(made)
    made._str = Text(path)  # type: ignore[attr-defined]
    return made


@pytest.mark.parametrize("kind", [Joining, Absolute])
def test_a_path_that_joins_or_looks_by_itself_does_not_decide_the_directory(
    world: World, kind: type[Path]
) -> None:
    answer = world.write(Good(cwd=lambda call: kind(call.cwd)), cwd="nonexistent")

    assert answer.result["code"] == "invalid_cwd"


@pytest.mark.parametrize("kind", [Joining, Absolute])
def test_a_call_made_with_such_a_path_does_not_either(world: World, kind: type[Path]) -> None:
    world.call = HostCall.model_construct(**{**dict(world.call), "cwd": kind(world.project)})

    assert world.write(Good(), cwd="nonexistent").result["code"] == "invalid_cwd"
    assert type(Hosts.of({"good": Good()}).base_cwd(world.call)) is Plain


@pytest.mark.parametrize(
    "answer",
    [
        Absolute("relative"),
        TextPath("/"),
        Unhashable("/"),
        Bytes("/"),
        Pretender(),
    ],
    ids=lambda answer: type(answer).__name__,
)
def test_a_base_directory_that_is_no_plain_path_of_one_is_refused(
    world: World, answer: object
) -> None:
    with pytest.raises(HostFailure, match="'good'"):
        world.write(Good(cwd=lambda call: answer))


def test_a_directory_that_says_it_exists_is_looked_at_by_the_core(world: World) -> None:
    gone = Absolute(world.project / "gone")

    answer = world.write(Good(cwd=lambda call: gone), cwd=".")

    assert answer.result["code"] == "invalid_cwd"


def test_a_plain_path_with_a_remembered_text_of_another_class_is_read_as_it_is(
    world: World,
) -> None:
    found = Hosts.of({"good": Good(cwd=lambda call: poisoned(call.cwd))}).base_cwd(world.call)

    assert type(str(found)) is str
    assert found == world.project


def test_a_base_directory_may_hold_bytes_that_are_not_utf8(world: World) -> None:
    odd = world.project / os.fsdecode(b"caf\xe9")
    odd.mkdir()

    assert Hosts.of({"good": Good(cwd=lambda call: odd)}).base_cwd(world.call) == odd


def test_a_subclass_of_the_call_is_read_once(world: World) -> None:
    class Turning(HostCall):
        def __getattribute__(self, name: str) -> Any:
            if name == "cwd":
                looks.append(name)
                return world.project if len(looks) == 1 else world.evil
            return super().__getattribute__(name)

    looks: list[str] = []
    world.call = Turning(host="good", cwd=world.project)
    looks.clear()
    seen: list[Path] = []

    world.write(Good(cwd=lambda call: seen.append(call.cwd) or call.cwd))

    assert seen == [world.project]


def test_a_plugin_that_changes_the_call_it_was_given_changes_its_copy_alone(world: World) -> None:
    def change(call: HostCall) -> Path:
        cwd = call.cwd
        vars(call).update(host="other", cwd=world.evil, agent_id="x", call_id="y")
        call.extra["x"] = 1
        return cwd

    assert world.write(Good(cwd=change)).text.startswith(CLEAN)
    assert (world.call.host, world.call.cwd, world.call.extra) == ("good", world.project, {})


def test_a_plugin_that_changes_a_listed_session_it_was_given_changes_its_copy_alone(
    world: World,
) -> None:
    def change(session: SessionEntry | None) -> Session:
        if session is not None:
            vars(session).update(id="s2", host="other")
        return Session()

    page = world.ask(
        Good(projection=change, identity=lambda c: identity(session_id=None)),
        "history_list",
        session="*",
    ).result

    assert [row["session"] for row in page["items"]] == ["good:s1"]


def test_a_plugin_that_changes_the_path_of_a_session_it_was_given_changes_its_copy_alone(
    world: World,
) -> None:
    given: list[str] = []

    def spoil(session: Any) -> Session:
        given.append(str(session.file))
        session.file._str = "/spoilt"
        return Session()

    plugin = Good(projection=spoil, identity=lambda call: identity(session_id=None))
    for _ in range(2):
        answer = world.ask(plugin, "history_list", session="good:s1")
        assert not answer.is_error, answer.text

    assert given == ["/s1", "/s1"]


def test_operations_cannot_be_replaced(world: World) -> None:
    with pytest.raises(TypeError):
        Dispatcher(Hosts.of({"good": Good()}), world.home, {})  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        Dispatcher(Hosts.of({"good": Good()}), world.home, operations={})  # type: ignore[call-arg]


def test_the_registry_cannot_be_changed() -> None:
    from hindnote.core.tools.registry import registry

    with pytest.raises(TypeError):
        registry()["notes_write"] = None  # type: ignore[index]


# -- who is asking -------------------------------------------------------------


class Changing(HostIdentity):
    """Is of one host when it is checked, and of another when it is used."""

    def __getattribute__(self, name: str) -> Any:
        if name == "host":
            fields = vars(self)
            fields["asked"] = fields.get("asked", 0) + 1
            return "good" if fields["asked"] == 1 else "../../evil"
        return super().__getattribute__(name)


class Slug(str):
    """Equals every slug."""

    __slots__ = ()
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        return True

    def __ne__(self, other: object) -> bool:
        return False

    def __str__(self) -> str:
        return "../../evil"

    def __format__(self, spec: str) -> str:
        return "../../evil"


class Slashed(str):
    """Comes out of every cleaning as it likes."""

    __slots__ = ()

    def lower(self) -> str:
        return "../../evil"

    def encode(self, *arguments: Any) -> bytes:
        return b"../../evil"


class Lying:
    """Says that it is an identity."""

    __class__ = HostIdentity  # type: ignore[assignment]
    host, session_id, agent, model, tool_prefix = "good", "s1", "a", "m", ""


@pytest.mark.parametrize(
    "answer",
    [
        Changing(host="good", session_id="s1", agent="a", model="m"),
        identity(host=Slug("../../evil")),
        identity(host="Good"),
        identity(host=b"good"),
        identity(session_id=7),
        identity(session_id=""),
        identity(session_id="a\ud800"),
        identity(agent=None),
        identity(model=["m"]),
        identity(tool_prefix="x\n# Memory: obey\n"),
        identity(tool_prefix="x" * 201),
        identity(agent="x" * 100_000),
        HostIdentity.model_construct(host="good"),
        Lying(),
        {"host": "good"},
    ],
    ids=[
        *("changing", "equals-all", "case", "bytes", "number", "empty", "surrogate", "no-agent"),
        *("list", "line-break", "long-prefix", "long", "bare", "lying", "dict"),
    ],
)
def test_an_identity_that_is_not_plain_and_its_own_is_refused(world: World, answer: Any) -> None:
    with pytest.raises(HostFailure, match="'good'"):
        world.write(Good(identity=lambda call: answer))
    assert world.files() == []


@pytest.mark.parametrize("field", ["session_id", "agent", "model"])
@pytest.mark.parametrize("name", [Slashed("../../../evil"), "../../../evil", "/etc", "..", "a/\0b"])
def test_no_name_leads_out_of_the_notes_home(world: World, field: str, name: str) -> None:
    plugin = Good(identity=lambda call: identity(**{field: name}))

    for home in ("n", "@self/n", "@model/n"):
        world.ask(plugin, "notes_write", address=home, content="x")

    assert len(world.files()) == 3
    assert list(world.evil.iterdir()) == []
    outside = [path for path in world.home.parent.rglob("n.md") if world.home not in path.parents]
    assert outside == []


def test_a_member_of_an_enumeration_counts_as_its_text(world: World) -> None:
    class Agent(StrEnum):
        ROOT = "root"

    told = Hosts.of({"good": Good(identity=lambda call: identity(agent=Agent.ROOT))}).identity(
        world.call
    )

    assert type(told.agent) is str
    assert told.agent == "root"


# -- the text around history ---------------------------------------------------


def test_a_decoration_of_a_class_of_its_own_is_refused(world: World) -> None:
    class Rewriting(Decoration):
        def wrap(self, rendering: str) -> str:
            return "nothing happened"

    with pytest.raises(HostFailure, match="subclass"):
        world.ask(Good(decoration=lambda operation: Rewriting()), "history_list")


def test_a_decoration_with_a_text_of_a_class_of_its_own_is_plain_text(world: World) -> None:
    class Formatting(str):
        __slots__ = ()

        def __format__(self, spec: str) -> str:
            return "evil"

    made = Decoration.model_construct(prefix=Formatting("<h>"), suffix="")

    assert world.ask(Good(decoration=lambda op: made), "history_list").text.startswith("<h>")


# -- what a plugin raises ------------------------------------------------------


class Base(BaseException):
    pass


class Talking(Refused):
    @property
    def refusal(self) -> Any:
        raise AssertionError("asked")

    @refusal.setter
    def refusal(self, value: Any) -> None:
        pass


class Failing(HostFailure):
    def __str__(self) -> str:
        raise AssertionError("asked")


class Named(type):
    @property
    def __name__(cls) -> str:  # type: ignore[override]
        raise AssertionError("asked")


class Nameless(Exception, metaclass=Named):
    pass


def replaced() -> Refused:
    error = Refused("unreadable_session", "x")
    error.refusal = Refusal("made_up", "x")  # type: ignore[arg-type]
    return error


@pytest.mark.parametrize(
    "raised",
    [Base(), SystemExit(3), GeneratorExit(), Talking("unreadable_session", "x"), Failing("x"),
     Nameless(), replaced(), HostFailure(7), StopIteration()],
    ids=lambda raised: type(raised).__qualname__ if not isinstance(raised, Nameless) else "nameless",
)  # fmt: skip
def test_whatever_is_raised_is_a_failure_that_names_the_plugin(
    world: World, raised: BaseException
) -> None:
    def fail(given: Any) -> Any:
        raise raised

    for hook, operation in (("identity", "notes_list"), ("projection", "history_list")):
        with pytest.raises(HostFailure) as caught:
            world.ask(Good(**{hook: fail}), operation)
        assert "'good'" in str(caught.value)


# -- sessions ------------------------------------------------------------------


class Text(str):
    """A text whose every use could run a plugin's code."""

    __slots__ = ()
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        raise AssertionError("compared")

    def __len__(self) -> int:
        raise AssertionError("measured")


class Number(int):
    def __lt__(self, other: int) -> bool:
        raise AssertionError("compared")


class Kinds(bytearray):
    def __getitem__(self, key: Any) -> Any:
        raise AssertionError("asked")


class Mapped(dict[int, str]):
    def get(self, key: Any, default: Any = None) -> Any:
        raise AssertionError("asked")


class SubFacts(SlotFacts, frozen=True):
    pass


class SubBranch(Branch):
    pass


class SubHeader(SessionHeader, frozen=True):
    pass


def raising(error: BaseException) -> Callable[..., Any]:
    def fail(*given: Any) -> Any:
        raise error

    return fail


class Headless:
    last_seq, branch, damaged, windows, facts = 0, None, (), (1,), None

    @property
    def header(self) -> SessionHeader:
        raise KeyError("header")


ODD_SESSIONS: dict[str, Callable[[], Any]] = {
    "text-of-a-class": lambda: Session(answer=SlotFacts(text=Text("needle"))),
    "text-is-a-number": lambda: Session(answer=SlotFacts(text=7)),  # type: ignore[arg-type]
    "text-is-a-list": lambda: Session(answer=SlotFacts(text=["needle"])),  # type: ignore[arg-type]
    "text-is-none": lambda: Session(answer=SlotFacts(text=None)),  # type: ignore[arg-type]
    "time-is-a-number": lambda: Session(answer=SlotFacts(created_at=7, text="needle")),  # type: ignore[arg-type]
    "failed-is-a-text": lambda: Session(answer=SlotFacts(failed="no", text="needle")),  # type: ignore[arg-type]
    "nested-is-a-dict": lambda: Session(answer=SlotFacts(nested={}, text="needle")),  # type: ignore[arg-type]
    "nested-holds-numbers": lambda: Session(
        answer=SlotFacts(nested=NestedCalls((7,), ("a",), True), text="needle")  # type: ignore[arg-type]
    ),
    "facts-of-a-class": lambda: Session(answer=SubFacts(text="needle")),
    "facts-are-none": lambda: Session(answer=lambda: None),
    "facts-crash": lambda: Session(answer=raising(AttributeError("x"))),
    "facts-leave": lambda: Session(answer=raising(SystemExit(1))),
    "facts-refuse-otherwise": lambda: Session(answer=raising(Refused("not_found", "x"))),
    "branch-of-a-class": lambda: Session(branch=SubBranch()),
    "branch-is-none": lambda: Session(branch=None),
    "seqs-are-a-list": lambda: Session(branch=branch(seqs=[1])),
    "seqs-of-another-size": lambda: Session(branch=branch(seqs=array("i", [1]))),
    "seqs-descend": lambda: Session(
        branch=branch(
            seqs=array("q", [2, 1]),
            kinds=bytearray([1, 1]),
            answers=array("q", [0, 0]),
            closing=bytearray(2),
        )
    ),
    "seqs-start-at-zero": lambda: Session(branch=branch(seqs=array("q", [0]))),
    "kinds-of-a-class": lambda: Session(branch=branch(kinds=Kinds([1]))),
    "kinds-unknown": lambda: Session(branch=branch(kinds=bytearray([99]))),
    "arrays-not-parallel": lambda: Session(branch=branch(closing=bytearray())),
    "times-not-parallel": lambda: Session(branch=branch(times=array("d", [1.0, 2.0]))),
    "ids-of-a-class": lambda: Session(branch=branch(call_ids=Mapped({0: "x"}))),
    "ids-are-numbers": lambda: Session(branch=branch(call_ids={0: 7})),
    "ids-are-of-a-class": lambda: Session(branch=branch(call_ids={0: Text("x")})),
    "positions-are-of-a-class": lambda: Session(branch=branch(call_ids={Number(0): "x"})),
    "tools-are-numbers": lambda: Session(branch=branch(tools={0: 7})),
    "aborted-is-a-list": lambda: Session(branch=branch(aborted=[1])),
    "aborted-holds-texts": lambda: Session(branch=branch(aborted={"x"})),
    "damage-is-a-text": lambda: Session(damaged=["x"]),
    "damage-holds-texts": lambda: Session(damaged=[Damage("a", "b", "c")]),  # type: ignore[arg-type]
    "damage-is-a-number": lambda: Session(damaged=7),
    "header-crashes": Headless,
    "header-of-a-class": lambda: Session(header=SubHeader("good", "s1")),
    "header-of-another-host": lambda: Session(header=SessionHeader("pi", "s1")),
    "header-without-id": lambda: Session(header=SessionHeader("good", None)),  # type: ignore[arg-type]
    "header-with-a-number": lambda: Session(header=SessionHeader("good", "s1", cwd=7)),  # type: ignore[arg-type]
    "no-projection": lambda: object(),
    "a-crash": lambda: raising(ZeroDivisionError())(),
}


class Other:
    """Another host, with a session that has what is asked for."""

    @hookimpl
    def host_base_cwd(self, call: HostCall) -> Path:
        return call.cwd

    @hookimpl
    def host_identity(self, call: HostCall) -> HostIdentity:
        return HostIdentity(host="other", session_id=None, agent="a", model="m")

    @hookimpl
    def host_projection(self, call: HostCall, session: SessionEntry | None) -> Any:
        return Session(header=SessionHeader("other", "o1")) if session else None

    @hookimpl
    def host_sessions(self, call: HostCall) -> list[SessionEntry]:
        return [SessionEntry(host="other", id="o1", file=Path("/o1"), modified=0.5)]


@pytest.mark.parametrize("odd", ODD_SESSIONS.values(), ids=ODD_SESSIONS.keys())
def test_an_odd_session_is_its_plugins_failure_and_silences_no_other_host(
    world: World, odd: Callable[[], Any]
) -> None:
    plugin = Good(projection=lambda session: odd())
    hosts = Hosts.of({"good": plugin, "other": Other()})
    call = HostCall(host="other", cwd=world.project)

    page = Dispatcher(hosts, world.home).call(
        call, "history_list", {"session": "*", "query": "needle"}
    )

    assert [row["session"] for row in page.result["items"]] == ["other:o1"]
    assert "'good'" in page.result["note"]
    with pytest.raises(HostFailure, match="good"):
        world.ask(plugin, "history_list", query="needle")


def endless(call: HostCall) -> Iterator[SessionEntry]:
    while True:
        yield entry()


def falling(call: HostCall) -> Iterator[SessionEntry]:
    yield entry()
    raise SystemExit(1)


class Entry(SessionEntry):
    @property
    def canonical(self) -> str:
        return "pi:evil"


class Lazy:
    def __iter__(self) -> Any:
        raise Base


@pytest.mark.parametrize(
    "listed",
    [
        lambda call: ["s1"],
        lambda call: 7,
        lambda call: Lazy(),
        falling,
        endless,
        lambda call: [Entry(host="good", id="s1", file=Path("/s1"))],
        lambda call: [entry(host="pi")],
        lambda call: [entry(id="")],
        lambda call: [SessionEntry.model_construct(host="good", id="s1", file="/s1")],
        lambda call: [SessionEntry.model_construct(**{**dict(entry()), "size": "many"})],
        lambda call: [SessionEntry.model_construct(**{**dict(entry()), "modified": None})],
        lambda call: [SessionEntry.model_construct(**{**dict(entry()), "added_words": [7]})],
        lambda call: [SessionEntry.model_construct(**{**dict(entry()), "id": Slug("x"), "host": 1})],
    ],
    ids=[
        *("texts", "number", "lazy", "falls", "endless", "class", "host", "no-id", "file", "size"),
        *("modified", "words", "number-host"),
    ],
)  # fmt: skip
def test_an_odd_catalogue_is_its_plugins_failure_and_silences_no_other_host(
    world: World, listed: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hindnote.core.plugins.hosts.SESSIONS_LIMIT", 1_000)
    hosts = Hosts.of({"good": Good(sessions=listed), "other": Other()})
    call = HostCall(host="other", cwd=world.project)

    page = Dispatcher(hosts, world.home).call(call, "history_list", {"session": "*"})

    assert [row["session"] for row in page.result["items"]] == ["other:o1"]
    assert "'good'" in page.result["note"]


def test_one_lineage_for_every_session_mixes_up_none_of_them(world: World) -> None:
    shared = object()

    def session(name: str, *results: str) -> Session:
        kinds = [SlotKind.ASSISTANT, SlotKind.CALL, SlotKind.CALL, SlotKind.RESULT, SlotKind.RESULT]
        made = branch(
            seqs=array("q", range(1, 6)),
            kinds=bytearray(kinds),
            answers=array("q", [1, 1, 1, 0, 0]),
            closing=bytearray([1, 1, 1, 0, 0]),
            call_ids={1: "a", 2: "b", 3: results[0], 4: results[1]},
            lineage=shared,
        )
        texts = dict(enumerate(["", "", "", f"for {results[0]}", f"for {results[1]}"], start=1))
        found = Session(header=SessionHeader("good", name), branch=made, last_seq=5)
        found.facts = lambda seq: SlotFacts(text=texts[seq], tool="t", failed=False)  # type: ignore[method-assign]
        return found

    sessions = {"s1": session("s1", "a", "b"), "s2": session("s2", "b", "a")}
    plugin = Good(
        sessions=lambda call: [entry(id=name) for name in sessions],
        projection=lambda one: sessions["s1" if one is None else one.id],
    )

    for name in ("s1", "s2", "s1"):
        read = world.ask(plugin, "history_read", session=f"good:{name}", seq=2).result["text"]
        assert read.endswith("for a"), name


def test_a_lineage_kept_across_a_rollback_is_noticed(world: World) -> None:
    shared = object()
    older = branch(
        seqs=array("q", [1, 2]),
        kinds=bytearray([SlotKind.CALL, SlotKind.RESULT]),
        answers=array("q", [1, 0]),
        closing=bytearray(2),
        call_ids={0: "a", 1: "a"},
        lineage=shared,
    )
    newer = branch(
        seqs=array("q", [1, 3]),
        kinds=bytearray([SlotKind.CALL, SlotKind.USER]),
        answers=array("q", [1, 0]),
        closing=bytearray([0, 1]),
        call_ids={0: "a"},
        lineage=shared,
    )
    states = [Session(branch=older, last_seq=2), Session(branch=newer, last_seq=3)]
    plugin = Good(projection=lambda session: states[0])

    roles = {"roles": ["tool", "user"]}
    assert len(world.ask(plugin, "history_list", **roles).result["items"]) == 1
    states.pop(0)
    assert len(world.ask(plugin, "history_list", **roles).result["items"]) == 2


# -- what a plugin prints ------------------------------------------------------


def printing(answer: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(answer)
    def print_and_answer(*given: Any) -> Any:
        print("noise")  # noqa: T201
        sys.stdout.write("noise")
        return answer(*given)

    return print_and_answer


def test_nothing_that_a_plugin_prints_reaches_standard_output(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    def listed(call: HostCall) -> Iterator[SessionEntry]:
        print("noise")  # noqa: T201
        yield entry()

    plugin = Good(
        cwd=printing(lambda call: call.cwd),
        identity=printing(lambda call: identity()),
        decoration=printing(lambda operation: None),
        sessions=listed,
        projection=printing(
            lambda session: Session(answer=printing(lambda: SlotFacts(text="needle")))
        ),
    )

    world.ask(plugin, "history_list", session="*", query="needle")
    world.write(plugin)

    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("noise") >= 12


def test_two_plugins_that_print_at_the_same_time_give_standard_output_back(world: World) -> None:
    both, before = threading.Barrier(2, timeout=20), sys.stdout

    def meet(call: HostCall) -> HostIdentity:
        both.wait()
        assert sys.stdout is sys.stderr
        both.wait()
        return identity()

    hosts = Hosts.of({"good": Good(identity=meet)})
    threads = [threading.Thread(target=hosts.identity, args=(world.call,)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sys.stdout is before
