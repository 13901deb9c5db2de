"""Delivery: what may be clipped, dropped or refused, in which order, and how it is said."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from hindnote.core.project.contract.bounds import MAX_DTO_BYTES
from hindnote.core.project.contract.marks import json_size
from hindnote.core.project.delivery import deliver
from hindnote.core.project.effects import EffectLog, ReceiptLog
from hindnote.core.project.outcome import Declined, Observation
from hindnote.core.project.rendering import receipt_lines
from hindnote.core.project.tools import TOOLS
from hindnote.hosts.pi import output_adapter

HASH = f"sha256:{'0a' * 32}"


def todo(path: str, number: int = 1) -> dict[str, Any]:
    return {"path": path, "id": number, "status": "ready", "priority": "p1", "hash": HASH}


def issue(message: str = "m", **more: Any) -> dict[str, Any]:
    return {"code": "duplicate_id", "blocking": True, "message": message, **more}


def scan(todos: list[Any], issues: list[Any]) -> Observation:
    root = {"path": "todos", "availability": "present"}
    data = {"root": root, "todos": todos, "issues": issues, "directory_hash": HASH}
    return Observation(data)


def delivered(outcome: Observation | Declined, effects: EffectLog | None = None) -> dict[str, Any]:
    dto = deliver(TOOLS["project_todo_list"].success, outcome, effects or EffectLog())
    output_adapter("project_todo_list").validate_python(dto)
    assert json_size(dto) <= MAX_DTO_BYTES
    return dto


def test_small_facts_are_delivered_exactly_and_complete() -> None:
    outcome = scan([todo("todos/é.md")], [issue()])

    dto = delivered(outcome)

    assert dto["data"] == outcome.data
    assert dto["completeness"]["complete"] is True


def test_the_facts_of_a_handler_are_never_changed() -> None:
    outcome = scan([todo("x" * 4000, n) for n in range(200)], [issue("m" * 500)])
    before = copy.deepcopy(outcome.data)

    delivered(outcome)

    assert outcome.data == before


def test_rows_beyond_a_ceiling_are_cut_and_counted() -> None:
    dto = delivered(scan([todo("a", n) for n in range(101)], []))

    assert len(dto["data"]["todos"]) == 100
    assert dto["data"]["todos"][-1]["id"] == 99
    assert dto["completeness"]["collections"]["todos"] == {
        "total": 101,
        "returned": 100,
        "omitted": 1,
    }
    assert dto["completeness"]["complete"] is False


def test_descriptive_text_is_clipped_at_its_ceiling_and_disclosed() -> None:
    dto = delivered(scan([], [issue("x" * 239 + "😀"), issue("x" * 240), issue("😀" * 121)]))

    assert [len(row["message"]) for row in dto["data"]["issues"]] == [239, 240, 120]
    assert dto["completeness"]["clipped"] == [{"text": "issues.message", "count": 2}]
    assert dto["completeness"]["complete"] is False


def test_an_identity_past_its_ceiling_fails_the_whole_and_is_never_shortened() -> None:
    log = EffectLog()
    log.changed("todos/a.md", HASH)
    dto = delivered(scan([todo("a"), todo("p" * 4097)], []), log)

    assert dto["ok"] is False
    assert dto["error"]["code"] == "contract_identity"
    assert dto["error"]["where"] == "todos.path"
    assert dto["error"]["limit"] == 4096
    assert dto["effects"]["changed"]["items"] == [{"path": "todos/a.md", "hash": HASH}]


def test_identities_are_checked_before_anything_is_cut() -> None:
    """The bad row is the 101st and would have been dropped."""
    rows = [todo("a") for _ in range(100)]

    dto = delivered(scan([*rows, todo("p" * 4097)], []))

    assert dto["error"]["code"] == "contract_identity"


def test_an_identity_that_utf8_cannot_hold_is_not_delivered() -> None:
    dto = delivered(scan([todo("a\udc80.md")], []))

    assert dto["error"]["code"] == "contract_identity"


@pytest.mark.parametrize("surplus", [0, 1])
def test_a_dto_of_exactly_the_ceiling_is_delivered_whole(surplus: int) -> None:
    def outcome(padding: int) -> Observation:
        rows = [todo("é" * 300, n) for n in range(74)]
        return scan(rows, [issue("m" * 240, path="p" * 4000)] * 2 + [issue(path="q" * padding)])

    padding = 1 + MAX_DTO_BYTES - json_size(delivered(outcome(1)))
    assert 1 < padding < 4096

    dto = delivered(outcome(padding + surplus))

    omitted = dto["completeness"]["collections"]["todos"]["omitted"]
    assert omitted == surplus
    assert dto["completeness"]["complete"] is (surplus == 0)
    if not surplus:
        assert json_size(dto) == MAX_DTO_BYTES


def test_trailing_rows_go_from_the_heaviest_collection() -> None:
    dto = delivered(scan([todo("é" * 4096, n) for n in range(50)], [issue("short")] * 3))

    assert len(dto["data"]["issues"]) == 3
    assert [row["id"] for row in dto["data"]["todos"]] == list(range(7))
    assert dto["completeness"]["collections"]["todos"]["omitted"] == 43


def test_what_was_clipped_in_a_dropped_row_is_not_told() -> None:
    rows = [issue("x" * 300, path="é" * 4096) for _ in range(50)]

    dto = delivered(scan([], rows))

    kept = len(dto["data"]["issues"])
    assert 0 < kept < 50
    assert dto["completeness"]["clipped"] == [{"text": "issues.message", "count": kept}]


def hit(path: str = "a", **more: Any) -> dict[str, Any]:
    return {
        "path": path,
        "kind": "document",
        "title": "t",
        "snippet": "s",
        "score": 1.0,
        "facets": [],
        "confidence": {"label": "raw_exact", "fields": [], "evidence": []},
        "provenance": {"scope": "docs", "source": "index", "hash": HASH, "matched": ["title"]},
        "related": [],
        "preview_covered": True,
        **more,
    }


def search(rows: list[Any], total: int = 0) -> dict[str, Any]:
    state = {
        "state": "fresh",
        "freshness": "auto",
        "documents": 1,
        "refreshed": 0,
        "previews_partial": 0,
        "unreadable": 0,
        "roots": [],
    }
    outcome = Observation({"results": rows, "cache_state": state}, {"results": total})
    dto = deliver(TOOLS["project_artifact_search"].success, outcome, EffectLog())
    output_adapter("project_artifact_search").validate_python(dto)
    assert json_size(dto) <= MAX_DTO_BYTES
    return dto


def test_the_last_hit_gives_up_its_related_rows_before_it_goes() -> None:
    related = [{"path": "é" * 4096, "title": "t", "relation": "links_to"} for _ in range(20)]

    dto = search([hit(related=related), hit("b")])

    assert [row["path"] for row in dto["data"]["results"]] == ["a"]
    counts = dto["completeness"]["collections"]
    assert counts["results"] == {"total": 2, "returned": 1, "omitted": 1}
    assert counts["related"]["total"] == 20
    assert 0 < counts["related"]["returned"] < 20


def test_hits_that_the_handler_left_out_are_counted() -> None:
    counts = search([hit()], total=500)["completeness"]["collections"]

    assert counts["results"] == {"total": 500, "returned": 1, "omitted": 499}


def test_a_facet_shows_four_tags_and_three_other_values() -> None:
    facets = [{"name": "t", "tags": list("abcde")}, {"name": "v", "values": list("abcde")}]

    dto = search([hit(facets=facets)])

    shown = dto["data"]["results"][0]["facets"]
    assert [len(shown[0]["tags"]), len(shown[1]["values"])] == [4, 3]
    assert dto["completeness"]["collections"]["facet_values"]["omitted"] == 3


def test_facts_of_a_wrong_shape_become_a_schema_error() -> None:
    log = EffectLog()
    log.touched_cache()

    dto = delivered(scan([{**todo("a"), "extra": 1}], []), log)

    assert dto["error"]["code"] == "contract_schema"
    assert dto["error"]["where"].startswith("data.todos.0")
    assert dto["effects"]["cache"] == "observed"


@pytest.mark.parametrize("bad", [None, 3, ["x"], {"path": None}])
def test_no_shape_of_a_row_breaks_delivery(bad: Any) -> None:
    assert delivered(scan([bad], []))["error"]["code"] == "contract_schema"


def test_a_score_that_json_cannot_hold_becomes_a_schema_error() -> None:
    assert search([hit(score=float("nan"))])["error"]["code"] == "contract_schema"


def test_facts_that_cannot_be_dropped_and_do_not_fit_overflow() -> None:
    roots = [{"scope": "docs", "path": "é" * 4096, "availability": "present"}] * 10
    data = {"results": [], "cache_state": {"roots": roots}}

    dto = deliver(TOOLS["project_artifact_search"].success, Observation(data), EffectLog())

    assert dto["error"]["code"] == "contract_overflow"
    assert dto["error"]["limit"] == MAX_DTO_BYTES
    assert dto["error"]["size"] > MAX_DTO_BYTES


# -- effects ----------------------------------------------------------------------


def test_a_provider_that_observes_nothing_has_unknown_effects_and_no_zeros() -> None:
    for tool in TOOLS:
        dto = deliver(TOOLS[tool].success, Declined("io_error", "m"), None)
        output_adapter(tool).validate_python(dto)

        effects = dto["effects"]
        assert {effects["documents"], effects["cache"], effects["rollback"]} == {"unknown"}
        assert effects["changed"] == {"items": [], "total": None, "omitted": None}
        assert effects["recovery"]["started"] is None
        assert effects["recovery"]["completed"] is None


def test_references_beyond_eight_are_counted_and_effects_stay_possible() -> None:
    log = EffectLog()
    for number in range(9):
        log.changed(f"todos/{number}.md", None)

    effects = delivered(Declined("io_error", "m"), log)["effects"]

    assert effects["documents"] == "possible"
    assert len(effects["changed"]["items"]) == 8
    assert (effects["changed"]["total"], effects["changed"]["omitted"]) == (9, 1)


def receipt(path: str) -> ReceiptLog:
    return ReceiptLog("j" * 4096, HASH, (path, HASH), (path, HASH))


def test_references_that_do_not_fit_are_withheld_and_effects_stay_possible() -> None:
    log = EffectLog()
    for number in range(8):
        log.changed("漢" * 4000 + str(number), HASH)
        log.may_change("字" * 4000 + str(number))
    log.receipts = [receipt("界" * 4096) for _ in range(3)]
    log.recoveries_started = log.recoveries_completed = 3

    effects = delivered(Declined("io_error", "m"), log)["effects"]

    assert effects["documents"] == "possible"
    shown = [len(effects[kind]["items"]) for kind in ("changed", "possible")]
    omitted = [effects[kind]["omitted"] for kind in ("changed", "possible")]
    assert [a + b for a, b in zip(shown, omitted, strict=True)] == [8, 8]
    assert sum(omitted) > 0
    recovery = effects["recovery"]
    assert recovery["total"] == 3
    assert recovery["omitted"] == 3 - len(recovery["receipts"])


def test_a_reference_that_breaks_its_ceiling_fails_the_result_and_is_withheld() -> None:
    log = EffectLog()
    log.changed("p" * 4097, HASH)
    log.changed("todos/a.md", None)

    dto = delivered(scan([], []), log)

    assert dto["error"]["code"] == "contract_identity"
    assert dto["error"]["where"] == "effects.changed.items.path"
    assert dto["effects"]["documents"] == "possible"
    assert dto["effects"]["changed"] == {
        "items": [{"path": "todos/a.md", "hash": None}],
        "total": 2,
        "omitted": 1,
    }


def test_null_and_missing_survive_in_references_and_receipts() -> None:
    log = EffectLog()
    log.changed("gone.md", None)
    log.may_change("maybe.md")
    told = receipt("a.md")
    told.current["source"] = None
    log.receipts.append(told)

    effects = delivered(Declined("io_error", "m"), log)["effects"]

    assert effects["changed"]["items"] == [{"path": "gone.md", "hash": None}]
    assert effects["possible"]["items"] == [{"path": "maybe.md"}]
    shown = effects["recovery"]["receipts"][0]
    assert shown["source"]["current"] is None
    assert "current" not in shown["target"]


def test_a_phase_is_clipped_and_disclosed() -> None:
    log = EffectLog()
    log.reached("p" * 65)

    dto = delivered(scan([], []), log)

    assert dto["effects"]["phase"] == "p" * 64
    assert dto["completeness"]["clipped"] == [{"text": "effects.phase", "count": 1}]


# -- failures ---------------------------------------------------------------------


def test_a_failure_keeps_its_facts_and_counts_the_issues_left_out() -> None:
    declined = Declined(
        "todo_conflict", "m" * 300, path="a", issues=[issue(path="é" * 4096) for _ in range(120)]
    )

    error = delivered(declined)["error"]

    assert error["path"] == "a"
    assert len(error["message"]) == 240
    assert error["issues_omitted"] == 120 - len(error["issues"])
    assert len(error["issues"]) >= 5


def test_a_failure_with_a_broken_identity_is_a_contract_error() -> None:
    dto = delivered(Declined("changed", "m", path="p" * 4097))

    assert dto["error"]["code"] == "contract_identity"


def test_a_facet_whose_key_cannot_be_delivered_is_omitted_and_counted() -> None:
    long = "k" * 257
    facets = [{"name": long, "values": ["v"]}, {"name": "short", "values": ["v"]}]
    fields = [{"field": name, "label": "raw_exact"} for name in (long, "short")]
    confidence = {"label": "raw_exact", "fields": fields, "evidence": []}

    dto = search([hit(facets=facets, confidence=confidence)])

    (row,) = dto["data"]["results"]
    assert [facet["name"] for facet in row["facets"]] == ["short"]
    counts = dto["completeness"]["collections"]
    assert counts["facets"] == {"total": 2, "returned": 1, "omitted": 1}
    assert counts["confidence"] == {"total": 2, "returned": 1, "omitted": 1}
    assert dto["completeness"]["complete"] is False


def test_a_contract_error_names_the_document() -> None:
    related = [{"path": "p" * 4097, "title": "t", "relation": "links_to"}]

    error = search([hit("docs/first.md"), hit("docs/second.md", related=related)])["error"]

    assert error["code"] == "contract_identity"
    assert error["path"] == "docs/second.md"
    assert "“docs/second.md”" in error["message"]
    assert "effects" in error["message"]


def test_a_schema_error_names_the_document() -> None:
    error = search([hit("docs/first.md"), hit("docs/second.md", score=-1.0)])["error"]

    assert error["code"] == "contract_schema"
    assert error["path"] == "docs/second.md"
    assert "“docs/second.md”" in error["message"]


def test_a_path_that_cannot_be_delivered_is_named_by_its_beginning() -> None:
    error = search([hit("docs/" + "p" * 4097)])["error"]

    assert "path" not in error
    assert "“docs/ppp" in error["message"]
    assert len(error["message"]) <= 240


def test_withheld_effects_make_an_output_incomplete() -> None:
    log = EffectLog()
    log.receipts = [receipt(f"todos/{number}.md") for number in range(9)]
    log.recoveries_started = log.recoveries_completed = 9

    dto = delivered(scan([], []), log)

    assert dto["completeness"]["complete"] is False
    assert receipt_lines(dto)[0] == "incomplete: recovery receipts 2 of 9"
    assert receipt_lines(dto)[-1] == "recovered: 7 more, withheld"
