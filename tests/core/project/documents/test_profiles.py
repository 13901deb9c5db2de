"""Profiles add meaning, never permission; describing; what samples never show."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from hindnote.core.project.documents import profiles
from hindnote.core.project.documents.profiles import (
    ArtifactProfile,
    FieldDefinition,
    Finding,
    Subject,
    profileimpl,
)
from hindnote.core.project.documents.redact import is_safe
from hindnote.core.project.run import run_tool
from hindnote.hosts.pi import output_adapter

Write = Callable[..., Path]


class Decisions:
    """A sample provider: it knows decision records, where a workspace has a folder for them."""

    @profileimpl
    def artifact_profile(self, workspace: Path) -> ArtifactProfile | None:
        if not (workspace / "docs" / "decisions").is_dir():
            return None
        return ArtifactProfile(
            name="decisions",
            definitions=(
                FieldDefinition(
                    name="verdict",
                    type="text",
                    description="What was decided.",
                    required=True,
                    enum=("accepted", "rejected", ""),
                ),
            ),
            applies=lambda subject: subject.path.startswith("docs/decisions/"),
            validate=self.check,
            samples=lambda name: ["accepted", "/etc/passwd"] if name == "verdict" else [],
        )

    def check(self, subject: Subject) -> Iterable[Finding]:
        if subject.frontmatter.get("verdict") not in ("accepted", "rejected"):
            yield Finding("verdict must be accepted or rejected", "verdict")


def call(base: Path, name: str, *plugins: object, **arguments: Any) -> dict[str, Any]:
    providers = profiles.manager({f"p{n}": plugin for n, plugin in enumerate(plugins)})
    dto = run_tool(f"project_artifact_{name}", arguments, base_cwd=base, providers=providers).dto
    output_adapter(f"project_artifact_{name}").validate_python(dto)
    assert dto["ok"], dto
    data: dict[str, Any] = dto["data"]
    return data


def by_path(data: dict[str, Any]) -> dict[str, Any]:
    return {row["path"].rpartition("/")[2]: row["confidence"] for row in data["results"]}


def test_confidence_says_what_a_profile_found(base: Path, write: Write) -> None:
    write("docs/plain.md", "word", "verdict: maybe")
    write("docs/decisions/good.md", "word", "verdict: accepted")
    write("docs/decisions/bad.md", "word", "verdict: maybe", "other: x")

    found = by_path(call(base, "search", Decisions()))

    assert {name: told["label"] for name, told in found.items()} == {
        "plain.md": "raw_exact",
        "good.md": "profile_validated",
        "bad.md": "profile_warning",
    }
    assert found["bad.md"]["fields"] == [
        {"field": "verdict", "label": "profile_warning"},
        {"field": "other", "label": "profile_validated"},
    ]
    assert found["bad.md"]["evidence"] == [
        {
            "provider": "decisions",
            "finding": "verdict must be accepted or rejected",
            "field": "verdict",
        }
    ]


def test_without_a_provider_everything_works(base: Path, write: Write) -> None:
    write("docs/decisions/bad.md", "word", "verdict: maybe")

    assert by_path(call(base, "search"))["bad.md"]["label"] == "raw_exact"
    assert {row["owner"] for row in call(base, "describe")["definitions"]} == {"hindnote"}


def test_definitions_of_profiles_that_apply_are_described(base: Path, write: Write) -> None:
    write("docs/a.md", "word")
    assert "verdict" not in [
        row["name"] for row in call(base, "describe", Decisions())["definitions"]
    ]

    write("docs/decisions/good.md", "word", "verdict: accepted")
    data = call(base, "describe", Decisions(), field_names=["verdict"])

    assert data["definitions"] == [
        {
            "name": "verdict",
            "owner": "decisions",
            "type": "text",
            "description": "What was decided.",
            "required": True,
            "enum": ["accepted", "rejected", ""],
        }
    ]
    assert [row["name"] for row in data["observed"]] == ["verdict"]
    assert "samples" not in data


def test_samples_come_by_name_and_redacted_whoever_gives_them(base: Path, write: Write) -> None:
    write("docs/decisions/good.md", "word", "verdict: accepted")

    data = call(base, "describe", Decisions(), field_names=["verdict"], include_samples=True)

    assert data["samples"] == [
        {"field": "verdict", "owner": "hindnote", "values": ["accepted"]},
        {"field": "verdict", "owner": "decisions", "values": ["accepted"]},
    ]
    assert "samples" not in call(base, "describe", Decisions(), include_samples=True)


def raising(where: str) -> object:
    def fail(*_: Any) -> Any:
        raise RuntimeError("boom")

    class Provider:
        @profileimpl
        def artifact_profile(self, workspace: Path) -> Any:
            if where == "hook":
                fail()
            if where == "answer":
                return {"name": "no profile"}
            if where == "finding":
                return ArtifactProfile(name="p", validate=lambda _: ["text"])  # type: ignore[arg-type,return-value]
            if where == "types":
                return ArtifactProfile(name=3)  # type: ignore[arg-type]
            return ArtifactProfile(name="p", **{where: fail})

    return Provider()


@pytest.mark.parametrize("where", ["hook", "answer", "finding", "types", "applies", "validate"])
def test_a_provider_that_fails_is_named_and_takes_nothing_down(
    base: Path, write: Write, where: str
) -> None:
    write("docs/a.md", "word")

    told = by_path(call(base, "search", raising(where), Decisions()))["a.md"]

    assert told["label"] == "profile_warning"
    assert len(told["evidence"]) == 1
    assert call(base, "describe", raising(where))["definitions"]


def test_samples_that_fail_are_left_out(base: Path, write: Write) -> None:
    write("docs/a.md", "word", "x: y")

    data = call(base, "describe", raising("samples"), field_names=["x"], include_samples=True)

    assert data["samples"] == [{"field": "x", "owner": "hindnote", "values": ["y"]}]


def test_installed_providers_are_found_and_broken_ones_named(
    base: Path,
    write: Write,
    install: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    module = ModuleType("hindnote_test_profile")
    module.artifact_profile = profileimpl(  # type: ignore[attr-defined]
        lambda workspace: ArtifactProfile(name="installed")
    )
    monkeypatch.setitem(sys.modules, "hindnote_test_profile", module)
    profiles.installed.cache_clear()
    write("docs/a.md", "word")
    calls: list[str] = []

    class Entry:
        def __init__(self, name: str) -> None:
            self.name = name
            self.dist = None

        def load(self) -> object:
            calls.append(self.name)
            if self.name == "broken":
                raise ImportError("no such module")
            return module

    monkeypatch.setattr(profiles, "entries", lambda group: [Entry("good"), Entry("broken")])
    try:
        dto = run_tool("project_artifact_search", {}, base_cwd=base).dto
    finally:
        profiles.installed.cache_clear()

    (row,) = dto["data"]["results"]
    assert calls == ["good", "broken"]
    assert [item["provider"] for item in row["confidence"]["evidence"]] == ["broken"]


def test_a_field_catalog_counts_documents_types_and_values(base: Path, write: Write) -> None:
    for number in range(101):
        write(f"docs/{number:03}.md", "x", f"many: v{number}", "same: 1")
    write(
        "docs/x.md", "x", "same: text", "date: 2026-05-26", "list: [a, b]", "none:", "map: {a: 1}"
    )

    observed = {row["name"]: row for row in call(base, "describe")["observed"]}

    assert observed["many"]["distinct"] == 100
    assert observed["many"]["distinct_capped"] is True
    assert observed["same"] == {
        "name": "same",
        "count": 102,
        "types": ["number", "text"],
        "distinct": 2,
        "distinct_capped": False,
    }
    assert [observed[name]["types"] for name in ("date", "list", "none", "map")] == [
        ["date"],
        ["list"],
        ["null"],
        ["mapping"],
    ]
    assert observed["list"]["distinct"] == 2


def test_exactly_a_hundred_distinct_values_are_not_capped(base: Path, write: Write) -> None:
    for number in range(100):
        write(f"docs/{number:03}.md", "x", f"many: v{number}")

    (row,) = call(base, "describe")["observed"]

    assert (row["distinct"], row["distinct_capped"]) == (100, False)


def test_a_key_too_long_to_be_delivered_fails_the_description_and_not_the_search(
    base: Path, write: Write
) -> None:
    write("docs/a.md", "word", f"{'k' * 257}: v", "other: x")

    dto = run_tool("project_artifact_describe", {}, base_cwd=base).dto
    assert dto["error"]["code"] == "contract_identity"
    assert dto["error"]["where"] == "observed.name"
    assert dto["error"]["path"] == "docs/a.md"
    assert "“docs/a.md”" in dto["error"]["message"]

    assert call(base, "describe", field_names=["other"])["observed"][0]["name"] == "other"
    (row,) = call(base, "search")["results"]
    assert [facet["name"] for facet in row["facets"]] == ["other"]


@pytest.mark.parametrize(
    ("key", "value", "safe"),
    [
        ("owner", "bob", True),
        ("tags", "deploy-to-production", True),
        ("link", "https://example.com/a/b", True),
        ("date", "2026-05-26T10:00:00Z", True),
        ("path", "docs/a.md", True),
        ("ratio", "1/2", True),
        ("password", "x", False),
        ("db_secret", "x", False),
        ("apiKey", "x", False),
        ("note", "AKIAIOSFODNN7EXAMPLE", False),
        ("note", "sk-proj-abcdefghijk", False),
        ("note", "ghp_16C7e42F292c6912E7710c838347Ae178B4a", False),
        ("note", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIx", False),
        ("note", "Bearer abcdef123456", False),
        ("note", "password=hunter2", False),
        ("note", "-----BEGIN RSA PRIVATE KEY-----", False),
        ("note", "https://user:pw@example.com", False),
        ("note", "d41d8cd98f00b204e9800998ecf8427e", False),
        ("note", "/etc/passwd", False),
        ("note", "~/secrets", False),
        ("note", "see '/home/bob/x'", False),
        ("note", "C:\\Users\\bob", False),
        ("note", "\\\\server\\share", False),
        ("note", "file:///etc/passwd", False),
    ],
)
def test_credentials_and_absolute_paths_are_never_shown(key: str, value: str, safe: bool) -> None:
    assert is_safe(key, value) is safe
