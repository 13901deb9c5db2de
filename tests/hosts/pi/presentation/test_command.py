from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from io import StringIO
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from pi_sessions import Writer, call
from rich.cells import cell_len
from rich.console import Console

from hindnote.core.cli.present import present
from hindnote.core.presentation.collect import Page, page_of
from hindnote.core.presentation.html import document
from hindnote.core.presentation.terminal import show
from hindnote.hosts.pi.sessions.projection import Sessions

DATA = Path(__file__).parents[3] / "data/pi"
FILES = sorted(DATA.glob("*.jsonl"))
VOID = {"meta", "br", "hr", "img", "link"}


def run(*arguments: str) -> Result:
    return CliRunner().invoke(present, arguments)


def page(file: Path, seq: int | None = None, last: int | None = None) -> Page:
    projection = Sessions().of_file(file)
    assert projection is not None
    return page_of(projection, seq, last)


def terminal(shown: Page, full: bool = False) -> str:
    out = StringIO()
    show(shown, full, console=Console(file=out, highlight=False))
    return out.getvalue()


class Checker(HTMLParser):
    """Finds out whether tags nest, and what a page would run or load."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.problems: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.open.append(tag)
        if tag in {"script", "iframe", "object", "embed", "img", "link", "form"}:
            self.problems.append(f"<{tag}>")
        for name, value in attrs:
            if name.startswith("on") or (name == "href" and not (value or "").startswith("file:")):
                self.problems.append(f"{tag} {name}={value}")

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.problems.append(f"</{tag}> closes nothing")

    def handle_data(self, data: str) -> None:
        self.text += data


def checked(html: str) -> Checker:
    checker = Checker()
    checker.feed(html)
    checker.close()
    assert checker.problems == []
    assert checker.open == []
    return checker


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_recorded_session_is_shown_in_every_format(file: Path) -> None:
    asked = page(file)

    checked(document(asked, full=False))
    out = StringIO()
    show(asked, full=False, console=Console(file=out, highlight=False))
    assert out.getvalue().count("seq ") >= len(asked.results)
    assert Page.model_validate_json(asked.model_dump_json(exclude_none=True)) == asked


def test_json_holds_every_tool_event_of_the_branch_whole() -> None:
    done = run("--session-file", str(DATA / "truncated-bash.jsonl"), "--format", "json")

    assert done.exit_code == 0
    told = json.loads(done.stdout)
    assert [row["tool"] for row in told["results"]] == ["bash"] * 5
    assert told["results"][0]["presentation"]["output"].count("\n") == 1999
    assert told["results"][4]["presentation"]["command"] == "seq 1 2100"


def test_seq_and_last_choose_what_is_shown() -> None:
    file = str(DATA / "basic.jsonl")

    one = json.loads(run("--session-file", file, "--seq", "29", "--format", "json").stdout)
    two = json.loads(run("--session-file", file, "--last", "2", "--format", "json").stdout)

    assert [row["seq"] for row in one["results"]] == [29]
    assert [row["tool"] for row in two["results"]] == ["find", "bash"]


@pytest.mark.parametrize(
    ("arguments", "said", "code"),
    [
        (["--seq", "1"], "error: not_an_event: the event at seq 1 is of role user, ", 1),
        (["--seq", "1"], "; the nearest is seq 3\n", 1),
        (["--seq", "43"], "is of role assistant, and only tool events are shown; the", 1),
        (["--seq", "4"], "error: not_an_event: ", 1),
        (["--seq", "4000"], "seqs 1 to 43", 1),
        (["--seq", "3", "--last", "1"], "not both", 2),
        (["--last", "0"], "0", 2),
    ],
)
def test_what_cannot_be_shown_is_told(arguments: list[str], said: str, code: int) -> None:
    done = run("--session-file", str(DATA / "basic.jsonl"), *arguments)

    assert done.exit_code == code
    assert said in done.output


def test_a_session_without_tool_events_says_so(tmp_path: Path) -> None:
    file = tmp_path / "talk.jsonl"
    lines = (DATA / "basic.jsonl").read_text("utf-8").splitlines(keepends=True)
    asked = next(at for at, line in enumerate(lines) if '"role":"user"' in line)
    file.write_text("".join(lines[: asked + 1]), "utf-8")

    done = run("--session-file", str(file), "--seq", "1")

    assert done.exit_code == 1
    assert "the session has no tool event that could be shown" in done.output


def test_a_file_that_is_no_session_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "x.jsonl"
    file.write_text("hello\n")

    done = run("--session-file", str(file))

    assert done.exit_code == 1
    assert "error: unreadable_session: " in done.output


def test_without_a_file_the_latest_session_of_the_directory_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PI_CODING_AGENT_DIR", str(tmp_path))
    monkeypatch.delenv("PI_CODING_AGENT_SESSION_DIR", raising=False)
    monkeypatch.chdir(tmp_path)
    assert run().exit_code == 2
    folder = tmp_path / "sessions/--x--"
    folder.mkdir(parents=True)
    writer = Writer(folder / "s.jsonl", cwd=str(tmp_path))
    writer.answer(call("c1", command="ls"))
    writer.result("c1", "found it")

    assert "found it" in run().stdout


HOSTILE = (
    "</pre></article><script>alert(1)</script><img src=x onerror=alert(2)>&amp;\x1b[31m\x1b]0;x\x07"
    "\u202eevil\u2066 'quotes' \"too\" \x00\x9b31m"
)


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    writer = Writer(tmp_path / "s.jsonl", cwd="/w/<b>")
    tools = {
        "bash": HOSTILE,
        "read": HOSTILE,
        "grep": f"{HOSTILE}:3: {HOSTILE}",
        "find": HOSTILE,
        "ls": HOSTILE,
        "write": HOSTILE,
        HOSTILE: HOSTILE,
    }
    for number, (tool, output) in enumerate(tools.items()):
        names = {"path": HOSTILE, "pattern": HOSTILE, "command": HOSTILE}
        writer.answer(call(f"c{number}", tool, **names))
        writer.result(f"c{number}", output, toolName=tool)
    writer.entry("session_info", name=HOSTILE)
    return writer.path


def test_hostile_content_stays_text_on_a_page(hostile: Path) -> None:
    checker = checked(document(page(hostile), full=False))

    assert "<script>alert(1)</script>" in checker.text
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", checker.text)


@pytest.mark.parametrize("file", [*FILES, None], ids=lambda file: file.stem if file else "hostile")
def test_a_page_is_valid_html(file: Path | None, hostile: Path) -> None:
    html5lib = pytest.importorskip("html5lib", reason="html5lib is not installed")

    html5lib.HTMLParser(strict=True).parse(document(page(file or hostile), full=False))


def test_long_arguments_are_shown_as_the_lines_they_are(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "s.jsonl")
    writer.answer(call("c1", "codemode", code="a()\nb()\n", timeout=3))
    writer.result("c1", "done", toolName="codemode")

    assert '<p class="note">code</p>\n<pre tabindex="0" class="dim">\na()\nb()</pre>' in document(
        page(writer.path), full=False
    )
    assert '\n  {"timeout": 3}\n  code\n  a()\n  b()\n  done\n' in terminal(page(writer.path))


def test_what_was_written_is_shown_below_where(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "s.jsonl")
    writer.answer(call("c1", "write", path="x.txt", content="one\n<two>\n"))
    writer.result("c1", "Written.", toolName="write")

    assert "one\n&lt;two&gt;</pre>" in document(page(writer.path), full=False)
    assert "  Written.\n  one\n  <two>\n" in terminal(page(writer.path))


def test_a_read_file_has_its_line_numbers_on_a_page(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "s.jsonl")
    writer.answer(call("c1", "read", path="x.txt", offset=9))
    writer.result("c1", "\n".join("abcdefg" * 60), toolName="read")

    html = document(page(writer.path), full=False)

    numbers = [int(number) for number in re.findall(r'class="no w\d">(\d+)<', html)]
    assert numbers == [*range(9, 159), *range(379, 429)]


def test_a_very_long_matching_line_is_clipped_with_a_count_and_whole_in_json(
    tmp_path: Path,
) -> None:
    writer = Writer(tmp_path / "s.jsonl")
    writer.answer(call("c1", "grep", pattern="x"))
    writer.result("c1", "a.py:1: " + "x" * 1_000_000, toolName="grep")
    asked = page(writer.path)

    assert "… 998,000 more characters" in document(asked, full=False)
    assert "… 998,000 more characters" in terminal(asked)
    assert max(map(len, document(asked, full=False).split("\n"))) < 50_000
    assert "x" * 1_000_000 in asked.model_dump_json()


def test_hostile_content_commands_no_terminal(hostile: Path) -> None:
    out = StringIO()
    show(page(hostile), full=False, console=Console(file=out, force_terminal=True, width=80))

    # rich's own colors and links are all that may be left.
    own = re.sub(r"\x1b\[[0-9;]*m|\x1b\]8;[^\x1b]*\x1b\\", "", out.getvalue())
    assert "\x1b" not in own
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", own)


def test_a_pipe_gets_plain_whole_lines(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "s.jsonl")
    writer.answer(call("c1", command="x"))
    writer.result("c1", "y" * 1500 + "\n" + "z" * 5000)
    out = StringIO()

    show(page(writer.path), full=False, console=Console(file=out, highlight=False))

    rows = out.getvalue().splitlines()
    assert "  " + "y" * 1500 in rows
    assert "  " + "z" * 2000 + " … 3,000 more characters" in rows
    assert "\x1b" not in out.getvalue()


@pytest.mark.parametrize("width", [20, 60, 200])
def test_a_long_line_is_broken_at_the_width_and_goes_on_below_its_text(
    tmp_path: Path, width: int
) -> None:
    writer = Writer(tmp_path / "s.jsonl")
    text = "  日本 " + "x y" * 60
    writer.answer(call("c1", "grep", pattern="zz"))
    writer.result("c1", f"a.py:12: {text}", toolName="grep")
    out = StringIO()

    show(page(writer.path), full=False, console=Console(file=out, force_terminal=True, width=width))

    plain = re.sub(r"\x1b\[[0-9;]*m|\x1b\]8;[^\x1b]*\x1b\\", "", out.getvalue())
    rows = plain.splitlines()[3:]
    assert all(cell_len(row) <= width for row in rows)
    assert rows[0].startswith("  12: ")
    assert all(row.startswith("      ") for row in rows[1:])
    assert "".join(row[6:] for row in rows) == text


def test_what_a_tool_says_is_broken_between_words(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "s.jsonl")
    writer.answer(call("c1", "find", pattern="*"))
    writer.result("c1", "a\n\n[9 results limit reached. Use limit=18 for more]", toolName="find")
    out = StringIO()

    show(page(writer.path), full=False, console=Console(file=out, force_terminal=True, width=20))

    plain = re.sub(r"\x1b\[[0-9;]*m", "", out.getvalue())
    assert [row.strip() for row in plain.splitlines()[2:]] == [
        "(9 results limit",
        "reached. Use",
        "limit=18 for more)",
    ]


def test_long_outputs_are_shortened_with_a_count_and_shown_in_full_on_demand() -> None:
    asked = page(DATA / "truncated-bash.jsonl", last=1)

    short, full = document(asked, full=False), document(asked, full=True)

    assert "… 1,800 more lines" in short
    assert "more lines" not in full
    assert full.count("\n") - short.count("\n") >= 1799


def test_a_full_output_is_linked_while_it_exists(tmp_path: Path) -> None:
    log = tmp_path / "out put.log"
    writer = Writer(tmp_path / "s.jsonl")
    writer.answer(call("c1", command="x"))
    details = {"truncation": {"truncated": True}, "fullOutputPath": str(log)}
    writer.result("c1", "part", details=details)

    assert "no longer there" in document(page(writer.path), full=False)
    log.write_text("all, and then part\n")
    assert f'<a href="{log.as_uri()}">' in document(page(writer.path), full=False)
    assert "all, and then part" in document(page(writer.path), full=True)
    assert "all, and then part" in terminal(page(writer.path), full=True)


def test_a_literal_pattern_is_found_again_and_said_to_be(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "s.jsonl")
    writer.answer(call("c1", "grep", pattern="a.b", literal=True, ignoreCase=True))
    writer.result("c1", "x.py:1: A.B axb a.b", toolName="grep")
    writer.answer(call("c2", "grep", pattern="a.b"))
    writer.result("c2", "x.py:1: axb", toolName="grep")
    writer.answer(call("c3", "grep", pattern=r"q|\(q"))
    writer.result("c3", "x.py:1: (q) q", toolName="grep")

    html = document(page(writer.path), full=False)

    assert re.findall("<mark>(.*?)</mark>", html) == ["A.B", "a.b", "(q", "q"]
    assert html.count("found again") == 2


@pytest.mark.parametrize("tool", ["bash", "read"])
def test_a_recorded_truncation_is_shown_in_every_format(tmp_path: Path, tool: str) -> None:
    writer = Writer(tmp_path / "s.jsonl")
    writer.answer(call("c1", tool, path="x.txt"))
    truncation = {"truncated": True, "totalBytes": 9_000, "outputBytes": 4}
    writer.result("c1", "tail", toolName=tool, details={"truncation": truncation})

    shown = page(writer.path)

    assert "(truncated: 4 of 9,000 bytes shown)" in terminal(shown)
    assert "truncated: 4 of 9,000 bytes shown" in document(shown, full=False)
    told = json.loads(shown.model_dump_json(exclude_none=True))["results"][0]["presentation"]
    assert told["truncation"]["truncated"] is True
    assert (told["truncation"]["shown_bytes"], told["truncation"]["total_bytes"]) == (4, 9_000)


def test_a_truncation_without_counts_is_shown_too(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "s.jsonl")
    writer.answer(call("c1", "bash", command="x"))
    writer.result("c1", "tail", toolName="bash", details={"truncation": {"truncated": True}})

    assert "  (truncated)\n" in terminal(page(writer.path))


@pytest.mark.parametrize("tool", ["read", "write", "edit"])
def test_the_path_of_a_result_is_a_link_on_a_page(tmp_path: Path, tool: str) -> None:
    writer = Writer(tmp_path / "s.jsonl")
    writer.answer(call("c1", tool, path="a <b>.txt", content="x"))
    writer.result("c1", "text", toolName=tool, details={"diff": "+1 x"})

    html = document(page(writer.path), full=False)

    assert 'a%20%3Cb%3E.txt">a &lt;b&gt;.txt</a>' in html
    assert checked(html).problems == []
