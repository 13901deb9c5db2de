"""The models for a tool result: structured where possible, else the text.

Nothing of a result is lost: ``joined`` of a presentation returns the result's text, and
``Edit.diff`` the recorded diff. Fields without recorded data are ``None``.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter


class Part(BaseModel):
    """Base: frozen, unknown fields rejected."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", use_attribute_docstrings=True, defer_build=True
    )


class Image(Part):
    """An image next to the text."""

    mime: str | None = None
    size: int | None = None
    """Bytes of the image itself."""


class _Shown(Part):
    tool: str | None = None
    failed: bool | None = None
    images: tuple[Image, ...] = ()


class Text(_Shown):
    """A result without a structure of its own."""

    kind: Literal["text"] = "text"
    text: str
    reason: str
    """Which rule did not hold."""

    def joined(self) -> str:
        """Return the result's text."""
        return self.text


class DiffRow(Part):
    """One row of a display diff."""

    marker: Literal[" ", "+", "-", "…"] | None
    """``…`` where lines were skipped, None for a row in no known form."""

    line: int | None = None
    text: str


class Edit(_Shown):
    """A file that was edited."""

    kind: Literal["edit"] = "edit"
    sentence: str
    path: str | None = None
    rows: tuple[DiffRow, ...]
    gutter: int
    """Characters of the line numbers' column."""

    first_changed_line: int | None = None
    patch: str | None = None

    def joined(self) -> str:
        """Return the result's text."""
        return self.sentence

    def diff(self) -> str:
        """Return the recorded display diff."""
        return "\n".join(map(self._row, self.rows))

    def _row(self, row: DiffRow) -> str:
        if row.marker is None:
            return row.text
        if row.marker == "…":
            return f" {' ' * self.gutter} {row.text}"
        return f"{row.marker}{row.line:>{self.gutter}} {row.text}"


class _Noticed(_Shown):
    head: str = ""
    """The beginning of the text, before what was found or printed."""

    notices: tuple[str, ...] = ()
    """What the tool said about its own result, one sentence group each."""

    tail: str = ""
    """The end of the text that holds the notices and statuses, as it stands."""


class GrepLine(Part):
    """One line of a file."""

    line: int
    text: str
    kind: Literal["match", "context"]
    cut: bool = False
    """Whether the tool cut the line's end off; the text then says so itself."""


class GrepFile(Part):
    """Lines of one file."""

    path: str | None
    """As printed: relative to the searched folder. None when no names were printed."""

    guessed: bool = False
    """Whether more than one path was possible and nothing but its looks decided."""

    blocks: tuple[tuple[GrepLine, ...], ...]
    """Runs of neighboring lines."""


class LooseLine(Part):
    """A printed line that is no line of a file."""

    index: int
    """Its place among all printed lines, from 0."""

    text: str


class Grep(_Noticed):
    """Lines of files that match a pattern."""

    kind: Literal["grep"] = "grep"
    files: tuple[GrepFile, ...] = ()
    """In order of appearance."""

    loose: tuple[LooseLine, ...] = ()
    """``--`` separators, and lines in no known form."""

    spaced: bool = True
    """Whether a blank stands before each line's text, as Pi prints it now."""

    no_matches: bool = False
    match_count: int = 0
    file_count: int = 0
    printed: str | None = None
    """The result's text, where it had colors or files as headings."""

    def joined(self) -> str:
        """Return the result's text."""
        if self.printed is not None:
            return self.printed
        if self.no_matches:
            return self.tail
        loose = {row.index: row.text for row in self.loose}
        printed: list[str] = []
        for file in self.files:
            for block in file.blocks:
                for line in block:
                    while len(printed) in loose:
                        printed.append(loose[len(printed)])
                    printed.append(self._printed(file.path, line))
        while len(printed) in loose:
            printed.append(loose[len(printed)])
        return "\n".join(printed) + self.tail

    def _printed(self, path: str | None, line: GrepLine) -> str:
        mark = ":" if line.kind == "match" else "-"
        named = "" if path is None else f"{path}{mark}"
        return f"{named}{line.line}{mark}{' ' if self.spaced else ''}{line.text}"


class Find(_Noticed):
    """Paths that match a pattern."""

    kind: Literal["find"] = "find"
    paths: tuple[str, ...] = ()
    no_matches: bool = False

    def joined(self) -> str:
        """Return the result's text."""
        return self.head + "\n".join(self.paths) + self.tail


class LsEntry(Part):
    """One entry of a folder."""

    name: str
    directory: bool


class Ls(_Noticed):
    """Entries of a folder."""

    kind: Literal["ls"] = "ls"
    entries: tuple[LsEntry, ...] = ()
    empty: bool = False

    def joined(self) -> str:
        """Return the result's text."""
        return "\n".join(e.name + "/" * e.directory for e in self.entries) + self.tail


class Truncation(Part):
    """How much of an output or a file is shown."""

    truncated: Literal[True] = True
    by: Literal["lines", "bytes"] | None = None
    first_line: int | None = None
    last_line: int | None = None
    total_lines: int | None = None
    total_bytes: int | None = None
    shown_bytes: int | None = None
    partial_line: bool = False
    """Whether a line was too long and only its end (or nothing of it) is shown."""


class Bash(_Noticed):
    """A command that ran."""

    kind: Literal["bash"] = "bash"
    command: str | None = None
    output: str
    no_output: bool = False
    status: str | None = None
    """How it ended, in the tool's words, if not well."""

    exit_code: int | None = None
    timed_out_after: float | None = None
    """Seconds."""

    aborted: bool = False
    truncation: Truncation | None = None
    full_output_path: str | None = None
    is_beginning: bool = False
    """Whether the recorded part of a truncated output is its beginning; else it is its end."""

    def joined(self) -> str:
        """Return the result's text."""
        return self.head + self.output + self.tail


class Read(_Noticed):
    """A file, or some lines of it."""

    kind: Literal["read"] = "read"
    path: str | None = None
    content: str
    first_line: int = 1
    total_lines: int | None = None
    next_offset: int | None = None
    truncation: Truncation | None = None
    printed: str | None = None
    """The result's text, where each line had its number before it."""

    def joined(self) -> str:
        """Return the result's text."""
        if self.printed is not None:
            return self.printed
        return self.content + self.tail


class Write(_Shown):
    """A file that was written."""

    kind: Literal["write"] = "write"
    sentence: str
    path: str | None = None

    def joined(self) -> str:
        """Return the result's text."""
        return self.sentence


class Task(_Shown):
    """Work that was given to a subagent."""

    kind: Literal["task"] = "task"
    text: str
    description: str | None = None
    agent_type: str | None = None
    agent_id: str | None = None
    """The subagent's id within the session."""

    prompt: str | None = None
    in_background: bool = False
    tool_calls: int | None = None
    tokens: int | None = None
    milliseconds: int | None = None

    def joined(self) -> str:
        """Return the result's text."""
        return self.text


class Fetch(_Shown):
    """A page of the web that was read."""

    kind: Literal["fetch"] = "fetch"
    text: str
    url: str | None = None
    prompt: str | None = None
    """What was asked of the page."""

    status: int | None = None
    """HTTP status."""

    size: int | None = None
    """Bytes of the page."""

    def joined(self) -> str:
        """Return the result's text."""
        return self.text


class Todo(Part):
    """One entry of a list of things to do."""

    text: str
    status: Literal["pending", "in_progress", "completed"] | None = None


class Todos(_Shown):
    """A list of things to do, as it was written."""

    kind: Literal["todos"] = "todos"
    sentence: str
    items: tuple[Todo, ...]

    def joined(self) -> str:
        """Return the result's text."""
        return self.sentence


class Mcp(_Shown):
    """What a tool of an MCP server or of a plugin answered."""

    kind: Literal["mcp"] = "mcp"
    server: str
    """The server or plugin, as the host names it."""

    name: str
    """The tool's name there."""

    text: str
    value: dict[str, Any] | list[Any] | None = None
    """The text as data, where it is a JSON object or array."""

    def joined(self) -> str:
        """Return the result's text."""
        return self.text


Presentation = Annotated[
    Bash | Edit | Fetch | Find | Grep | Ls | Mcp | Read | Task | Text | Todos | Write,
    Field(discriminator="kind"),
]

_KNOWN: TypeAdapter[Presentation] = TypeAdapter(Presentation)


def rebuilt(answer: BaseModel) -> Presentation:
    """Return a copy of a plugin's presentation, made of the core's own classes.

    Raises:
        pydantic.ValidationError: It is not a presentation.
    """
    return _KNOWN.validate_python(answer.model_dump(warnings=False))
