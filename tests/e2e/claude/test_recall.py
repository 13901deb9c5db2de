"""An earlier session and a note are found by what they are about, in the real Claude Code."""

from __future__ import annotations

import re

import pytest
from claude_host import DONE, Claude, texts, tool
from model import Text, Turn

REMEMBERED = "The importer stopped because the delivery had no header line; it is skipped now."
ABOUT_IMPORT = "why did importing crash on files without headers"


@pytest.fixture
def remembered(claude: Claude) -> str:
    """The first of two earlier sessions, beside two notes."""
    claude.model.then(Turn(Text(REMEMBERED)))
    session = claude.run("The nightly import broke again, please look at it")
    claude.model.then(
        Turn(
            tool("notes_write", address="@project/storage", content="Invoices live in PostgreSQL."),
            tool("notes_write", address="@project/colors", content="Buttons are blue."),
        ),
        DONE,
    )
    claude.run("Paint the buttons of the settings page blue")
    return f"claude:{session}"


def test_a_session_is_found_in_other_words_and_read_where_the_hit_points(
    claude: Claude, remembered: str
) -> None:
    claude.model.then(Turn(tool("history_list", session="*", about=ABOUT_IMPORT)), DONE)
    claude.run("What do we know of the import?")
    (found,) = texts(claude.model.played[-1])
    hit = re.match(rf"session {re.escape(remembered)} \| seq (\d+) \| assistant", found)
    assert hit, found

    claude.model.then(Turn(tool("history_read", session=remembered, seq=int(hit[1]))), DONE)
    claude.run("read it")

    (read,) = texts(claude.model.played[-1])
    assert REMEMBERED in read


def test_a_note_is_found_in_other_words(claude: Claude, remembered: str) -> None:
    asked = tool("notes_search", about="which database do we store invoices in")
    claude.model.then(Turn(asked), DONE)

    claude.run("look it up")

    (found,) = texts(claude.model.played[-1])
    assert re.match(r"1 note; .*\n@project/storage\.md \| ", found), found


def test_what_nobody_ever_said_is_not_found(claude: Claude, remembered: str) -> None:
    asked = tool("history_list", session="*", about="sourdough hydration percentages")
    claude.model.then(Turn(asked), DONE)

    claude.run("look it up")

    (found,) = texts(claude.model.played[-1])
    assert "seq" not in found
