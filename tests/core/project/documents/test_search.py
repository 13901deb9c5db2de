"""What a search finds, and what it says of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hindnote.core.project.contract.bounds import utf16_length
from hindnote.core.project.documents import query
from hindnote.core.tools.operation import ArgumentError

Run = Callable[..., Any]
Write = Callable[..., Path]
Paths = Callable[..., list[str]]


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("rollback", True),
        ("ROLLBACK", True),
        ("roll", True),
        ("back", False),
        ("cafe", True),
        ("CAFÉ", True),
        ("回滚", True),
        ("デプロイ", True),
        ("滚回", False),
        ("needle", True),
        ("snake", True),
        ("case_word", True),
        ("ops", True),
        ("titular", True),
        ("rollback nothing", False),
        ("", True),
        ("   ", True),
        ("***", True),
    ],
)
def test_words_are_found_in_title_metadata_and_body(
    write: Write, paths: Paths, asked: str, found: bool
) -> None:
    write(
        "docs/a.md",
        "The rollback of Café デプロイ. 部署失败后回滚 İİİ needle, snake_case_word",
        "title: Titular",
        "tags: [ops]",
    )

    assert paths(asked) == (["docs/a.md"] if found else [])


@pytest.mark.parametrize(
    ("match", "found"), [("all", ["b"]), ("any", ["b", "c", "a"]), ("phrase", ["b"])]
)
def test_match_says_how_words_combine(
    write: Write, paths: Paths, match: str, found: list[str]
) -> None:
    write("docs/a.md", "red " + "and some more words " * 10)
    write("docs/b.md", "red apple")
    write("docs/c.md", "an apple")

    assert sorted(paths("red apple", match=match)) == sorted(f"docs/{name}.md" for name in found)
    assert paths("apple red", match="phrase") == []


def test_required_terms_must_be_there_and_optional_ones_raise_the_score(
    write: Write, paths: Paths
) -> None:
    for name, body in [("a", "plan"), ("b", "plan urgent"), ("c", "plan for the roll out")]:
        write(f"docs/{name}.md", body)

    assert paths("plan", optional_terms=["urgent"])[0] == "docs/b.md"
    assert len(paths("plan", optional_terms=["urgent"])) == 3
    assert paths("plan", required_terms=["roll out"]) == ["docs/c.md"]
    assert paths(required_terms=["out roll"]) == []
    assert paths(optional_terms=["urgent"]) == ["docs/b.md"]


def test_a_title_counts_more_than_a_body(write: Write, paths: Paths) -> None:
    for number in range(5):
        write(f"docs/other{number}.md", "nothing of it")
    write("docs/body.md", "deployment")
    write("docs/title.md", "words", "title: deployment")

    assert paths("deployment") == ["docs/title.md", "docs/body.md"]


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({"status": "ready"}, True),
        ({"status": " READY "}, True),
        ({"status": ["done", "ready"]}, True),
        ({"status": "read"}, False),
        ({"tags": "ops"}, True),
        ({"tags": ["x", "Ops"]}, True),
        ({"tags": "op"}, False),
        ({"year": 2024}, True),
        ({"year": "2024"}, True),
        ({"draft": False}, True),
        ({"draft": "false"}, True),
        ({"ratio": 1.5}, True),
        ({"clé": "VALEUR"}, True),
        ({"a key.x": "1"}, True),
        ({"status": "ready", "year": 2025}, False),
        ({"year": 2024, "tags": ["Ops", "deploy"], "status": ["open", "ready"]}, True),
        ({"status": ["open", "ready"], "year": 2024, "tags": "none"}, False),
        ({"missing": "x"}, False),
        ({"status": []}, False),
        ({"x' OR 1=1 --": "x"}, False),
        ({"wide": "fullwidth"}, True),
    ],
)
def test_filters_are_exact_after_normalizing(
    write: Write, paths: Paths, filters: dict[str, Any], found: bool
) -> None:
    write(
        "docs/a.md",
        "body",
        "status: ready",
        "tags: [Ops, deploy]",
        "year: 2024",
        "draft: false",
        "ratio: 1.5",
        "clé: valeur",
        "a key.x: 1",
        "wide: ｆｕｌｌｗｉｄｔｈ",
    )
    write("docs/b.md", "body", "status: open")

    assert paths(filters=filters) == (["docs/a.md"] if found else [])


def test_scopes_tell_documents_from_todos(write: Write, run: Run, paths: Paths) -> None:
    write("docs/a.md", "word")
    write("docs/deep/er/b.markdown", "word")
    write("todos/001-ready-p1-x.md", "word")
    write("other/c.md", "word")

    assert len(paths("word")) == 3
    assert paths("word", scopes=["todos"]) == ["todos/001-ready-p1-x.md"]
    kinds = {row["kind"] for row in run("artifact_search", scopes=["docs"]).dto["data"]["results"]}
    assert kinds == {"document"}
    assert paths("word", docs_root="other", scopes=["docs"]) == ["other/c.md"]


def test_todos_inside_the_docs_root_are_todos_once(write: Write, run: Run) -> None:
    write("docs/a.md", "word")
    write("docs/todos/001-ready-p1-x.md", "word")

    rows = run("artifact_search", query="word", todos_root="docs/todos").dto["data"]["results"]

    assert {row["path"]: row["provenance"]["scope"] for row in rows} == {
        "docs/a.md": "docs",
        "docs/todos/001-ready-p1-x.md": "todos",
    }


@pytest.mark.parametrize(
    ("body", "covered"),
    [("x" * 1200, True), ("x" * 1201, False), ("😀" * 600, True), ("😀" * 601, False), ("", True)],
)
def test_a_body_beyond_its_preview_is_not_searched_and_the_answer_says_so(
    write: Write, run: Run, body: str, covered: bool
) -> None:
    write("docs/a.md", body + " needle")
    write("docs/b.md", body)

    data = run("artifact_search", scopes=["docs"]).dto["data"]

    rows = {row["path"]: row["preview_covered"] for row in data["results"]}
    assert rows["docs/b.md"] is covered
    assert data["cache_state"]["previews_partial"] == list(rows.values()).count(False)
    if body:
        assert run("artifact_search", query="needle").dto["data"]["results"] == []
        assert "1,200 characters" in run("artifact_search").details["summary"]


def test_a_search_that_leaves_hits_out_counts_them(write: Write, run: Run) -> None:
    for number in range(7):
        write(f"docs/{number}.md", "word")

    answer = run("artifact_search", query="word", limit=3)

    assert answer.dto["completeness"]["collections"]["results"] == {
        "total": 7,
        "returned": 3,
        "omitted": 4,
    }
    assert answer.dto["completeness"]["complete"] is False
    assert "3 of 7" in answer.blocks[1]


def test_a_snippet_shows_the_first_hit_within_its_size(write: Write, run: Run) -> None:
    write("docs/a.md", "filler words " * 60 + "here is the needle that counts " + "more " * 40)

    (row,) = run("artifact_search", query="needle", max_snippet_chars=60).dto["data"]["results"]

    assert "needle" in row["snippet"]
    assert utf16_length(row["snippet"]) <= 60


@given(st.text(max_size=300), st.text(max_size=6), st.integers(60, 300))
def test_a_snippet_never_exceeds_its_size(text: str, word: str, limit: int) -> None:
    place = query.first_hit(text, query.build(word, "all", (), ()).wanted())

    assert place is None or 0 <= place < len(text)
    assert utf16_length(query.snippet(text, place or 0, limit)) <= limit


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.text(max_size=30) | st.sampled_from(['"', "a AND", "NEAR(a b)", "a*", "-a", "^a", "col:a"]),
    st.sampled_from(["all", "any", "phrase"]),
    st.lists(st.text(max_size=8), max_size=2),
)
def test_no_query_is_an_error(
    base: Path, run: Run, words: str, match: str, terms: list[str]
) -> None:
    (base / "docs").mkdir(exist_ok=True)
    (base / "docs" / "a.md").write_text("a b c AND NEAR")

    dto = run(
        "artifact_search", query=words, match=match, required_terms=terms, optional_terms=terms
    ).dto

    assert dto["ok"] is True
    assert dto["data"]["cache_state"]["state"] in ("rebuilt", "fresh", "refreshed")


def test_a_word_given_again_and_again_counts_once(write: Write, run: Run) -> None:
    """Each repetition would cost a look at all others in each document."""
    write("docs/a.md", "word " * 50)
    write("docs/b.md", "another word")
    once = run("artifact_search", query="word another", match="any").dto["data"]["results"]

    again = "word " * 10_000 + "another " * 10_000

    assert run("artifact_search", query=again, match="any").dto["data"]["results"] == once
    assert len(once) == 2


def test_as_many_words_as_one_search_takes_are_looked_for(write: Write, paths: Paths) -> None:
    write("docs/a.md", "w499")

    assert paths(" ".join(f"w{n}" for n in range(query.MAX_TERMS)), match="any") == ["docs/a.md"]


@pytest.mark.parametrize(
    "arguments",
    [
        {"query": " ".join(f"w{n}" for n in range(query.MAX_TERMS + 1))},
        {"query": " ".join(f"w{n}" for n in range(20_000)), "match": "any"},
        {"required_terms": [f"w {n}" for n in range(query.MAX_TERMS + 1)]},
        {"optional_terms": [f"w{n}" for n in range(query.MAX_TERMS)], "query": "w"},
    ],
    ids=["words", "far too many", "required", "together"],
)
def test_more_words_than_one_search_takes_are_bad_arguments(
    write: Write, run: Run, arguments: dict[str, Any]
) -> None:
    write("docs/a.md", "w1")

    with pytest.raises(ArgumentError, match="at most 500 can be asked for at once"):
        run("artifact_search", **arguments)


def test_related_documents_are_told_by_relation(write: Write, run: Run) -> None:
    write("docs/a.md", "hit, see [b](sub/b.md#part) and [out](../../x.md)", "tags: [ops]")
    write("docs/sub/b.md", "other")
    write("docs/c.md", "other, see [a](<a.md> 'title')")
    write("docs/d.md", "other", "tags: [OPS]")
    write("docs/e.md", "other", "status: ops")

    (row,) = run("artifact_search", query="hit", related_limit=20).dto["data"]["results"]

    assert [(item["relation"], item["path"]) for item in row["related"]] == [
        ("links_to", "docs/sub/b.md"),
        ("linked_from", "docs/c.md"),
        ("shares_value", "docs/d.md"),
    ]
    (row,) = run("artifact_search", query="hit", related_limit=1).dto["data"]["results"]
    assert len(row["related"]) == 1


def test_facets_leave_out_credentials_and_absolute_paths(write: Write, run: Run) -> None:
    write(
        "docs/a.md",
        "body",
        "title: T",
        "owner: bob",
        "api_key: harmless",
        "home: /home/bob",
        "note: see C:\\Users\\bob",
        "id: ghp_0123456789abcdef0123",
        "tags: [ok, /etc/passwd]",
        "meta: {a: 1}",
        "nothing:",
    )

    (row,) = run("artifact_search").dto["data"]["results"]

    assert row["facets"] == [
        {"name": "owner", "values": ["bob"]},
        {"name": "tags", "tags": ["ok"]},
        {"name": "nothing", "values": ["null"]},
    ]


def test_an_explanation_comes_when_asked_for(write: Write, run: Run) -> None:
    write("docs/a.md", "word", "title: word")

    (row,) = run("artifact_search", query="word", explain=True).dto["data"]["results"]
    (plain,) = run("artifact_search", query="word").dto["data"]["results"]

    assert row["provenance"]["matched"] == ["title", "metadata", "body"]
    assert "bm25" in row["provenance"]["explanation"]
    assert "explanation" not in plain["provenance"]


@pytest.mark.parametrize(
    "block",
    [
        "ACME LEGAL PLLC",
        "title: a: b",
        "d: 2026-13-45",
        "\n".join(
            ["a: &a [x,x]"]
            + [f"{b}: &{b} [*{a},*{a}]" for a, b in zip("abcdefgh", "bcdefghi", strict=True)]
        ),
        "a: 1\na: 2",
        "t: !!python/object:os.system x",
        "[" * 300,
    ],
)
def test_a_block_that_cannot_be_read_leaves_the_document_findable(
    write: Write, paths: Paths, block: str
) -> None:
    place = write("docs/a.md", f"---\n{block}\n---\nneedle")
    before = place.read_bytes()

    assert paths("needle") == ["docs/a.md"]
    assert place.read_bytes() == before


def test_a_file_that_is_no_text_is_counted_among_the_others(
    base: Path, write: Write, run: Run
) -> None:
    write("docs/a.md", "word")
    (base / "docs" / "b.md").write_bytes(b"\xff\xfe\x00")
    write("docs/.hidden.md", "word")
    write("docs/.git/c.md", "word")

    data = run("artifact_search").dto["data"]

    assert len(data["results"]) == 1
    assert data["cache_state"]["unreadable"] == 1
    assert run("artifact_search").dto["data"]["cache_state"]["unreadable"] == 1


def test_folders_too_deep_are_counted_and_not_entered(base: Path, run: Run) -> None:
    place = base / "docs"
    for _ in range(80):
        place = place / "d"
    place.mkdir(parents=True)
    (place / "a.md").write_text("word")

    data = run("artifact_search").dto["data"]

    assert data["results"] == []
    assert data["cache_state"]["unreadable"] == 1


def test_lines_show_scores_that_differ_in_digits_that_differ(run: Run, write: Write) -> None:
    write("docs/a.md", "rollback", "title: rollback")
    write("docs/b.md", "rollback " + "other words " * 20)

    answer = run("artifact_search", query="rollback")

    first, second = (row["score"] for row in answer.dto["data"]["results"])
    lines = [row for row in answer.details["rows"] if row.startswith("docs/")]
    shown = [line.rpartition(" | score ")[2] for line in lines]
    assert 0 < second < first < 0.001
    assert "e" not in "".join(shown)
    assert [float(score) for score in shown] == pytest.approx([first, second], rel=0.005)


def test_lines_leave_out_scores_that_are_all_the_same(run: Run, write: Write) -> None:
    write("docs/a.md", "rollback")
    write("docs/b.md", "rollback")

    answer = run("artifact_search", query="rollback")

    assert "score" not in answer.text.partition("{")[0]
    assert all(row["score"] > 0 for row in answer.dto["data"]["results"])


def test_half_a_character_in_metadata_costs_no_search(write: Write, run: Run) -> None:
    write("docs/a.md", "word", r'title: "half \ud800"', r'owner: "\ud83d\ude00"')

    (row,) = run("artifact_search", query="word").dto["data"]["results"]

    assert row["title"] == "half \ufffd"
    assert row["facets"] == [{"name": "owner", "values": ["😀"]}]


@pytest.mark.parametrize(
    "text",
    [
        "---\n\n**Subject: Hello**\n\nsecretword\n\n---\n\n> Final",
        "---\nkind: x\nsecretword\n",
        "---\nkind: x\n...\nsecretword\n",
    ],
)
def test_a_document_that_only_seems_to_begin_with_frontmatter_is_searched_whole(
    base: Path, paths: Callable[..., list[str]], text: str
) -> None:
    (base / "docs").mkdir()
    (base / "docs" / "a.md").write_text(text)

    assert paths("secretword") == ["docs/a.md"]


def test_a_template_for_a_title_is_shown_as_it_is_written(base: Path, run: Any) -> None:
    (base / "docs").mkdir()
    (base / "docs" / "a.md").write_text("---\ntitle: {{title}}\nowner: {{me}}\n---\nword")

    (row,) = run("artifact_search", query="word").dto["data"]["results"]

    assert row["title"] == "{{title}}"
    assert row["facets"] == [{"name": "owner", "values": ["{{me}}"]}]
