"""``hindnote docs …``: search a project's documents, for people and scripts."""

from __future__ import annotations

from typing import Any

import click

from hindnote.core.cli.tree import Group
from hindnote.core.project.commands.common import common, finish, run

DOCS_HELP = """Find what a project knows already, in docs/ and todos/.

\b
  hindnote docs search rollback plan
  hindnote docs search --filter status=ready --filter tags=ops,deploy
  hindnote docs describe

Exit codes: 0 done, 1 refused, 2 not possible.
"""


@click.group(
    cls=Group, help=DOCS_HELP, short_help="Search a project's documents and describe their fields."
)
def docs() -> None:
    """Find what a project knows already, in docs/ and todos/."""


@docs.command()
@click.argument("words", nargs=-1)
@click.option(
    "--filter",
    "filters",
    multiple=True,
    metavar="KEY=VALUE[,VALUE…]",
    help="Frontmatter key with an exact value; repeat for more keys.",
)
@click.option("--require", multiple=True, help="Word or phrase that every hit must hold.")
@click.option("--prefer", multiple=True, help="Word or phrase that raises a hit's score.")
@click.option("--scope", type=click.Choice(["docs", "todos"]), help="Search one of both only.")
@click.option(
    "--match",
    type=click.Choice(["all", "any", "phrase"]),
    default="all",
    show_default=True,
    help="Whether all words must be there, any, or the exact phrase.",
)
@click.option(
    "--limit", type=click.IntRange(1, 100), default=20, show_default=True, help="Hits to show."
)
@click.option(
    "--related",
    type=click.IntRange(0, 20),
    default=0,
    show_default=True,
    help="Related documents per hit.",
)
@click.option(
    "--freshness",
    type=click.Choice(["auto", "strict", "memory"]),
    default="auto",
    show_default=True,
    help="Compare times, compare contents, or use no cache.",
)
@click.option("--rebuild", is_flag=True, help="Make the index anew.")
@click.option("--explain", is_flag=True, help="Say with --json how each score came about.")
@common
def search(
    words: tuple[str, ...],
    filters: tuple[str, ...],
    require: tuple[str, ...],
    prefer: tuple[str, ...],
    scope: str | None,
    match: str,
    limit: int,
    related: int,
    freshness: str,
    rebuild: bool,
    explain: bool,
    **place: Any,
) -> None:
    """Find documents by WORDS and frontmatter, best first.

    A word of three letters or more also finds longer ones that begin with it. Of each
    body the first 1,200 characters are searched.
    """
    arguments = {
        "query": " ".join(words),
        "required_terms": list(require),
        "optional_terms": list(prefer),
        "filters": dict(map(_filter, filters)),
        "scopes": [scope] if scope else None,
        "match": match,
        "limit": limit,
        "related_limit": related,
        "freshness": freshness,
        "rebuild": rebuild,
        "explain": explain,
    }
    finish(run("project_artifact_search", place, arguments), place)


def _filter(given: str) -> tuple[str, list[str]]:
    key, sign, values = given.partition("=")
    if not sign or not key:
        raise click.BadParameter(f"{given!r} is not KEY=VALUE", param_hint="--filter")
    return key, values.split(",")


@docs.command(short_help="Tell what frontmatter FIELDS mean and which there are.")
@click.argument("fields", nargs=-1)
@click.option("--samples", is_flag=True, help="Redacted sample values of the named FIELDS.")
@common
def describe(fields: tuple[str, ...], samples: bool, **place: Any) -> None:
    """Tell what frontmatter FIELDS mean and which there are; all unless named."""
    if samples and not fields:
        raise click.UsageError("--samples needs the names of fields")
    arguments = {"field_names": list(fields) or None, "include_samples": samples}
    finish(run("project_artifact_describe", place, arguments), place)
