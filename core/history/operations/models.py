"""Parameters and results of the two history operations."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import ConfigDict, Field

from hindnote.core.delivery.window import WindowParams, WindowResult
from hindnote.core.history.document import ToolStatus
from hindnote.core.history.timeline import Role
from hindnote.core.tools.operation import Params
from hindnote.core.tools.outcome import Result

DEFAULT_LIMIT = 20
MAX_LIMIT = 200
DEFAULT_PREVIEW = 1_200
MAX_PREVIEW = 12_000
ABOUT_LIMIT = 8
ABOUT_PREVIEW = 280
COUNTED = 1_000
"""Further hits are counted up to this number, which then means "this many or more"."""

End: TypeAlias = Literal["newest", "oldest"]

# -- parameters ----------------------------------------------------------------


class HistoryListParams(Params):
    """Parameters of ``history_list``."""

    session: str | None = None
    """Another: <host>:<id>, an id or prefix, @parent; many: *, <host>:*, project:*."""

    query: str | list[str] | None = None
    """Literals; any may match, in any case."""

    about: str | None = None
    """Question; best hits first."""

    roles: list[Role] | None = None

    # A page's parameters may contain null, so these two must allow it in their schema.
    before_seq: Annotated[int, Field(ge=1)] | None = Field(default_factory=lambda: None)
    """Exclusive."""

    after_seq: Annotated[int, Field(ge=0)] | None = Field(default_factory=lambda: None)
    """Exclusive."""

    since: str | None = None
    """ISO 8601, inclusive."""

    until: str | None = None
    """Exclusive; a date includes its day."""

    from_: Annotated[End, Field(alias="from")] = "newest"
    """Where limit counts from."""

    # Not declared as defaults: they depend on ``about``, and clients would fill them in.
    limit: Annotated[int, Field(ge=1, le=MAX_LIMIT)] | None = None
    """20, about: 8."""

    max_chars_per_item: Annotated[int, Field(ge=1, le=MAX_PREVIEW)] | None = None
    """1200, about: 280."""

    @property
    def rows(self) -> int:
        """Maximum number of rows."""
        return self.limit or (ABOUT_LIMIT if self.about else DEFAULT_LIMIT)

    @property
    def preview(self) -> int:
        """Maximum length of an event's preview, in code points."""
        return self.max_chars_per_item or (ABOUT_PREVIEW if self.about else DEFAULT_PREVIEW)


class HistoryReadParams(WindowParams):
    """Parameters of ``history_read``."""

    seq: Annotated[int, Field(ge=1)]

    session: str | None = None
    """One session, as in history_list."""


# -- results -------------------------------------------------------------------


class _Wired(Result):
    # "from" is a Python keyword, so the attribute has another name than the field.
    model_config = ConfigDict(serialize_by_alias=True)


class Page(_Wired):
    """Params to merge into the same call, for the page that follows."""

    session: str | None = None
    before_seq: int | None
    after_seq: int | None
    from_: Annotated[End, Field(alias="from")]


class Expand(_Wired):
    """Params that list the events of a folded row."""

    session: str | None = None
    after_seq: int
    before_seq: int
    roles: list[Role]
    since: str | None = None
    until: str | None = None
    from_: Annotated[End, Field(alias="from")]
    limit: int


class Neighborhood(_Wired):
    """Params that list the events around one."""

    session: str | None = None
    before_seq: int
    roles: list[Role]


class EventFields(Result):
    """The fields of an event that a list and a read share."""

    session: str | None = None
    seq: int
    role: Role
    created_at: str | None
    tool: str | None = None
    tool_status: ToolStatus | None = None
    output_truncated: bool | None = None
    full_output_path: str | None = None


class EventRow(EventFields):
    """One event of a list."""

    content: str
    total_chars: int
    truncated: bool | None = None
    offset_chars: int | None = None
    """Of a hit: where content starts in the event's text."""

    matches_total: int | None = None
    also_in: int | None = None
    """Other sessions that hold a copy."""


class FoldedRow(Result):
    """A run of tool and context events between rows of the conversation."""

    session: str | None = None
    folded: Literal[True]
    first_seq: int
    last_seq: int
    count: int
    tools: dict[str, int]
    omitted_tools: int | None = None
    """Further tools."""

    expand: Expand


class HistoryList(_Wired):
    """Result of ``history_list``."""

    session: str | None = None
    items: list[EventRow | FoldedRow]
    page_older: Page | None
    """Params to merge into the same call; null at the end."""

    page_newer: Page | None
    damaged_lines: int | None = None
    more: int | None = None
    """With about: further hits; 1000 means as many or more."""

    lookups_omitted: int | None = None
    """Matching calls of our reading tools."""

    sessions_covered: int | None = None
    sessions_remaining: int | None = None
    """Reached by since, until or a narrower session."""

    sessions_skipped: int | None = None
    note: str | None = None


class HistoryRead(EventFields, WindowResult):
    """Result of ``history_read``."""

    nested_calls: NestedCount | None = None
    neighborhood: Neighborhood
    """Params of history_list for the events around this one."""

    damaged_lines: int | None = None
    note: str | None = None


class NestedCount(Result):
    """Calls that a tool made, as the host recorded them."""

    call_count: int
    complete: bool
