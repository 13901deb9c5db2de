from __future__ import annotations

import time
from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from hindnote.core.text import yaml_authority
from hindnote.core.text.frontmatter import divide, edited, glance, scan

# Pieces from which blocks are made that lie on the border of what is plain.
KEYS = ["title", "createdAt", "updatedAt", "archivedAt", "origin", "key.x", "clé", "null", "a-b"]
VALUES = [
    "",
    " plain",
    " two words",
    " a: b",
    " http://z.y/z",
    " # comment",
    " x # comment",
    " x #",
    " #x",
    " x#y",
    " true",
    " False",
    " trueish",
    " yes",
    " null",
    " ~",
    " 12",
    " 0012",
    " 1.10",
    " 9007199254740993",
    " 1e3",
    " 2026-05-26",
    " 2026-13-45",
    " 2026-05-26T10:00:00.123+02:00",
    " 2026-05-26T10:00:",
    " '2026-05-26T10:00:00Z'",
    ' "a: b"',
    ' "a\\tb"',
    " 'it''s'",
    " 'x' y",
    " [a, b]",
    " [a, true]",
    " [a,b ,c]",
    " [ ]",
    " []",
    " {a: 1}",
    " |\n  text\n  more",
    "\n  - a\n  - b",
    "\n- a",
    " - a",
    " @x",
    " %x",
    " *x",
    " &a x",
    " !t x",
    " trailing  ",
    "  two",
    "\tx",
    " é 部署 x",
    " x\u2028y",
    r' "\ud800"',
    r' "\ud83d\ude00"',
    " (a) b, c/d + e's",
    " a -b",
    " ?x",
]
LINES = ["# comment", "", "  ", "#", " # indented", "- a", "plain", "a: 1", "...", "\ufeff", "%TAG"]

lines = st.one_of(
    st.tuples(st.sampled_from(KEYS), st.sampled_from(VALUES)).map(lambda kv: f"{kv[0]}:{kv[1]}"),
    st.sampled_from(LINES),
)
blocks = st.lists(lines, max_size=5).flatmap(
    lambda found: st.sampled_from(["\n", "\r\n"]).map(
        lambda end: "".join(line.replace("\n", end) + end for line in found)
    )
)


def truth(block: str) -> Any:
    try:
        return yaml_authority.parse(block)
    except yaml_authority.InvalidBlock as error:
        return str(error)


def assert_the_scan_agrees(block: str) -> None:
    scanned = scan(block)

    if scanned is not None:
        assert truth(block) == scanned


def assert_a_glance_agrees(block: str) -> None:
    updated = glance(block)

    if updated is not None:
        known = truth(block).values()
        assert (known.get("updatedAt") or "") == updated
        assert not known.get("archivedAt")


@given(blocks)
@example("a: b \n")
@example("true: a\n")
@example("title: T\ntitle: U\n")
def test_the_scan_says_what_the_authority_says(block: str) -> None:
    assert_the_scan_agrees(block)


@given(blocks)
@example("archivedAt:\nupdatedAt: 2026-05-26\n")
def test_a_glance_says_what_the_authority_says(block: str) -> None:
    assert_a_glance_agrees(block)


def test_scan_and_glance_say_of_each_line_alone_what_the_authority_says() -> None:
    """Of the blocks above, one in seven is plain enough to be read here."""
    found = [f"{key}:{value}\n" for key in KEYS for value in VALUES]
    for block in (*found, *(f"{line}\n" for line in LINES)):
        assert_the_scan_agrees(block)
        assert_a_glance_agrees(block)


def test_the_scan_reads_what_notes_usually_hold() -> None:
    block = (
        "title: Über das Deployment\norigin: self\ncreatedAt: 2026-11-30T11:11:10.123+00:00\n"
        "updatedAt: 2026-11-30T11:11:10.123+00:00\ntags: [a, b]\n# why\nn: 12\nq: 'a: b'\n"
    )

    assert scan(block) is not None
    assert glance(block) == "2026-11-30T11:11:10.123+00:00"


@pytest.mark.parametrize(
    ("text", "block", "body"),
    [
        ("---\na: 1\n---\nb", "a: 1\n", "b"),
        ("---\n---\nb", "", "b"),
        ("---\na: 1\n---", "a: 1\n", ""),
        ("---\r\na: 1\r\n---\r\nb\r\n", "a: 1\r\n", "b\r\n"),
        ("\ufeff---\ntitle: x\n---\nb", "title: x\n", "b"),
        ("---  \na: 1\n---\t\nb", "a: 1\n", "b"),
        ("---\na: 1\n----\nb: 2\n---\nc", "a: 1\n----\nb: 2\n", "c"),
        ("---\na: 1\n--- x\n---\nc", "a: 1\n--- x\n", "c"),
        ("---\na: 1\n ---\n---\nc", "a: 1\n ---\n", "c"),
        ("---\na\n---\nb\n---\nc", "a\n", "b\n---\nc"),
    ],
)
def test_a_block_lies_between_fences_that_stand_alone(text: str, block: str, body: str) -> None:
    parts = divide(text)

    assert parts is not None
    assert (parts.block, parts.body) == (block, body)
    assert parts.opening + parts.block + parts.closing + parts.body == text


@pytest.mark.parametrize(
    "text",
    ["", "---", "---\n", "---\na: 1\n", "----\na: 1\n---\n", " ---\na\n---\n", "a\n---\nb\n---\n",
     "\n---\na: 1\n---\n", "---\n---x\n", "--- a\n---\n", "\ufeff\ufeff---\na: 1\n---\n"],
)  # fmt: skip
def test_without_such_fences_there_is_no_block(text: str) -> None:
    assert divide(text) is None


@given(st.lists(st.sampled_from(["---", "--- ", "----", "a: 1", "", "b", "\ufeff"]), max_size=6))
def test_the_handler_splits_where_the_store_does(lines: list[str]) -> None:
    text = "\n".join(lines)
    parts = divide(text)

    if parts is not None:
        assert yaml_authority.NoteHandler().split(text) == (parts.block, parts.body)


def test_the_handler_loads_the_values_of_a_block() -> None:
    handler = yaml_authority.NoteHandler()

    assert handler.load("a: 1\nb: [x]\n") == {"a": 1, "b": ["x"]}
    with pytest.raises(yaml_authority.InvalidBlock):
        handler.load("just text\n")


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("2026-05-26", "2026-05-26"),
        ("2026-13-45", "2026-13-45"),
        ("1.10", "1.10"),
        ("1.0", "1.0"),
        ("1.5", 1.5),
        ("-0.25", -0.25),
        ("1e3", "1e3"),
        (".inf", ".inf"),
        (".nan", ".nan"),
        ("0012", "0012"),
        ("0x1F", "0x1F"),
        ("-0", "-0"),
        ("12", 12),
        ("9007199254740991", 9007199254740991),
        ("9007199254740993", "9007199254740993"),
        ("yes", "yes"),
        ("true", True),
        ("null", None),
        ("~", None),
        ("", None),
        ("[2024, true, null, 1.10]", [2024, True, None, "1.10"]),
        ("!!python/object/apply:os.system [x]", ["x"]),
        ("!unknown x", "x"),
        (r'"\ud83d\ude00"', "😀"),
        (r'"a\ud800b"', "a\ufffdb"),
        (r'{"\udc88": ["\ud83d"]}', {"\ufffd": ["\ufffd"]}),
        ("!!binary aGk=", "aGk="),
        ("{1: a, null: b, 2024-01-01: c}", {"1": "a", "null": "b", "2024-01-01": "c"}),
    ],
)
def test_foreign_values_are_json_or_their_source(source: str, shown: Any) -> None:
    block = yaml_authority.parse(f"value: {source}\n")

    assert block is not None
    assert block.values() == {"value": shown}


@pytest.mark.parametrize(
    "block", ["text\n", "- a\n", "12\n", "'x'\n", "[a]\n", "null\n", "!!map x\n"]
)
def test_valid_yaml_that_is_no_mapping_is_no_block(block: str) -> None:
    assert yaml_authority.parse(block) is None


@pytest.mark.parametrize("block", ["", "\n", "# only a comment\n", "{}\n"])
def test_an_empty_block_has_no_values(block: str) -> None:
    parsed = yaml_authority.parse(block)

    assert parsed is not None
    assert parsed.values() == {}


@pytest.mark.parametrize(
    ("block", "line"),
    [
        ("title: a: b\n", 2),
        ("ok: 1\ntitle: KB: Something\n", 3),
        ("a: 1\na: 2\n", 3),
        ("a: 1\n'a': 2\n", 3),
        ("m:\n  x: 1\n  x: 2\n", 4),
        ("a: *nowhere\n", 2),
        ('a: "open\n', None),
        ("a: {\n", None),
        ("\tb: 1\n", None),
        ("a: \x07\n", None),
        ("a: 1\n...\nb: 2\n", None),
        ("%YAML 1.1\n", None),
        ("a: 1\nb: \x01\n", 3),
        ("x: " + "[" * 3000 + "\n", None),
        ("- " * 10_000 + "\n", None),
        ("a: b\n" * 20_000, None),
    ],
)
def test_what_cannot_be_read_says_why_and_where(block: str, line: int | None) -> None:
    started = time.process_time()
    with pytest.raises(yaml_authority.InvalidBlock) as caught:
        yaml_authority.parse(block)

    assert time.process_time() - started < 1
    assert "\n" not in str(caught.value)
    if line is not None:
        assert str(caught.value).startswith(f"line {line}: ")


def test_aliases_are_not_expanded_beyond_their_limit() -> None:
    bomb = "a0: &a0 [x, x]\n" + "".join(
        f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 10)
    )
    started = time.perf_counter()
    block = yaml_authority.parse(bomb)

    assert block is not None
    assert time.perf_counter() - started < 1
    assert block.values()["a0"] == ["x", "x"]
    assert block.values()["a9"] == yaml_authority.OMITTED
    assert sum(len(str(value)) for value in block.values().values()) < 20_000


def test_an_alias_in_itself_is_not_followed() -> None:
    block = yaml_authority.parse("a: &a [*a]\nb: 1\n")

    assert block is not None
    assert block.values() == {"a": yaml_authority.OMITTED, "b": 1}


def test_what_is_nested_too_deep_is_named_as_omitted() -> None:
    block = yaml_authority.parse("a: " + "[" * 100 + "]" * 100 + "\nb: 1\n")

    assert block is not None
    assert block.values() == {"a": yaml_authority.OMITTED, "b": 1}


FOREIGN = [
    "# why\n",
    "meta:\n  a: 1\n",
    "key.x: 1\n",
    "clé: 2\n",
    "v: 1.0 # note\n",
    "big: 9007199254740993\n",
    "text: |\n  x\n\n  y\n\n",
    "folded: >-\n  x\n  y\n",
    "list:\n- a\n- b\n",
    "list2:\n  - a # c\n  # d\n",
    "anchor: &a [1, 2]\n",
    "alias: *a\n",
    'quoted: "x\n  y"\n',
    "? complex\n: value\n",
    "empty:\n",
    "\n",
]
OWNED = ["origin: user\n", "createdAt: '2026-01-01'\n", "archivedAt: 2026-01-01 # done\n",
         "updatedAt:\n", "origin:   external\n", "createdAt: |\n  2026\n"]  # fmt: skip


@given(
    foreign=st.lists(st.sampled_from(FOREIGN), unique=True, max_size=6),
    owned=st.lists(st.sampled_from(OWNED), unique_by=lambda line: line.split(":")[0], max_size=3),
    order=st.randoms(use_true_random=False),
    crlf=st.booleans(),
    changes=st.dictionaries(
        st.sampled_from(["origin", "createdAt", "archivedAt", "updatedAt"]),
        st.sampled_from([None, "self", "2026-11-30T11:11:10.123+00:00"]),
    ),
)
def test_an_edit_of_owned_keys_leaves_every_other_byte(
    foreign: list[str],
    owned: list[str],
    order: Any,
    crlf: bool,
    changes: dict[str, str | None],
) -> None:
    if "alias: *a\n" in foreign and "anchor: &a [1, 2]\n" not in foreign:
        foreign.remove("alias: *a\n")
    pieces = sorted(foreign, key=lambda line: line == "alias: *a\n") + owned
    if "alias: *a\n" not in foreign:
        order.shuffle(pieces)
    newline = "\r\n" if crlf else "\n"
    text = "".join(pieces).replace("\n", newline)
    block = yaml_authority.parse(text)
    assert block is not None

    made = edited(block, changes, newline)

    new = yaml_authority.parse(made)
    assert new is not None
    expected = {key: value for key, value in block.values().items() if key not in changes}
    expected |= {key: value for key, value in changes.items() if value is not None}
    assert new.values() == expected
    if crlf:
        assert "\n" not in made.replace("\r\n", "")
    for piece in foreign:
        assert piece.replace("\n", newline) in made


@pytest.mark.parametrize(
    "value",
    [
        "a: b",
        "# x",
        "- x",
        "@x",
        "%x",
        "*x",
        "yes",
        "0012",
        "trailing ",
        "a\nb",
        "a\u2028b",
        "",
        "é",
    ],
)
def test_owned_values_that_are_written_read_back_with_another_parser(value: str) -> None:
    """The store writes words, times and keys of projects; even other text would survive."""
    source = f"origin: self\nforeign: {yaml.safe_dump(value, allow_unicode=False)}"
    block = scan(source) or yaml_authority.parse(source)
    assert block is not None

    made = edited(block, {"origin": "user", "project": "0012-0123abcd"}, "\n")

    assert yaml.safe_load(made) == {"origin": "user", "foreign": value, "project": "0012-0123abcd"}
