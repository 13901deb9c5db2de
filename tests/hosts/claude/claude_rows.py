"""A writer of small made-up transcripts. A row's name is its text; ids are made from names."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hindnote.core.history.lines import LineFile
from hindnote.hosts.claude.sessions.branch import host_branch
from hindnote.hosts.claude.sessions.projection import Transcript

SESSION = "aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee"
NIL = "00000000-0000-0000-0000-000000000000"

Row = dict[str, Any]


def uuid_of(name: str) -> str:
    return f"uuid-{name}"


def reference(name: str | None) -> str | None:
    """Return the id behind a name; what is an id already stays."""
    return name if name is None or name == NIL else uuid_of(name)


class Writer:
    """Collects rows. Methods are named for what they add; ``under`` names the parent."""

    def __init__(self) -> None:
        self.rows: list[Row] = []

    def add(self, type_: str, name: str, under: str | None, **fields: Any) -> str:
        second = len(self.rows)
        self.rows.append(
            {
                "parentUuid": reference(under),
                "isSidechain": False,
                "type": type_,
                "uuid": uuid_of(name),
                "timestamp": f"2026-11-30T09:{second // 60 % 60:02}:{second % 60:02}.000Z",
                "cwd": "/workspace/demo",
                "sessionId": SESSION,
                **fields,
            }
        )
        return name

    def user(self, name: str, under: str | None = None, **fields: Any) -> str:
        message = {"role": "user", "content": fields.pop("content", name)}
        return self.add("user", name, under, message=message, **fields)

    def meta(self, name: str, under: str) -> str:
        return self.user(name, under, isMeta=True)

    def answer(self, name: str, under: str | None, response: str, *blocks: Row, **more: Any) -> str:
        message = {"id": response, "role": "assistant", "model": "opus", "content": list(blocks)}
        return self.add("assistant", name, under, message={**message, **more})

    def text(self, name: str, under: str | None, response: str) -> str:
        return self.answer(name, under, response, {"type": "text", "text": name})

    def call(self, name: str, under: str | None, response: str, call_id: str | None = None) -> str:
        block = {"type": "tool_use", "id": call_id or name, "name": "Bash", "input": {"x": name}}
        return self.answer(name, under, response, block)

    def result(self, name: str, under: str, call_id: str | None = None, **fields: Any) -> str:
        block = {"tool_use_id": call_id or under, "type": "tool_result", "content": name}
        message = {"role": "user", "content": [block]}
        source = {"sourceToolAssistantUUID": reference(under), **fields}
        return self.add("user", name, under, message=message, **source)

    def hook(self, name: str, under: str | None) -> str:
        attachment = {"type": "hook_additional_context", "content": [name]}
        return self.add(
            "attachment", name, under, attachment=attachment, rendered=[{"content": name}]
        )

    def system(self, name: str, under: str | None, subtype: str = "turn_duration") -> str:
        return self.add("system", name, under, subtype=subtype)

    def checkpoint(self, leaf: str | None, *, explicit: bool | None = None) -> None:
        row: Row = {"type": "last-prompt", "leafUuid": reference(leaf), "sessionId": SESSION}
        self.rows.append(row if explicit is None else {**row, "explicit": explicit})

    def compact(
        self,
        name: str,
        behind: str,
        keep: list[str] | None = None,
        summary: str = "",
        anchor: str = "",
    ) -> str:
        """Add a boundary and its summary row; ``keep`` names what the anchor, or it, precedes."""
        summary = summary or f"{name}-summary"
        metadata: Row = {"trigger": "manual"}
        if keep is not None:
            kept = {
                "anchorUuid": reference(anchor or summary),
                "uuids": [uuid_of(row) for row in keep],
            }
            metadata["preservedMessages"] = kept
        self.add(
            "system",
            name,
            None,
            subtype="compact_boundary",
            logicalParentUuid=reference(behind),
            compactMetadata=metadata,
        )
        return self.user(summary, name, isCompactSummary=True)

    def write(self, file: Path) -> Path:
        lines = (json.dumps(row, separators=(",", ":")) for row in self.rows)
        file.write_text("".join(line + "\n" for line in lines), "utf-8")
        return file

    def transcript(self, folder: Path) -> Transcript:
        return Transcript(LineFile(self.write(folder / f"{SESSION}.jsonl")))

    def branch(self, folder: Path) -> list[str]:
        """Return the names of the rows of the host's branch."""
        return self.names(self.transcript(folder), host=True)

    def history(self, folder: Path) -> list[str]:
        """Return the names of the rows of the history, in the order of their seqs."""
        return self.names(self.transcript(folder), host=False)

    def names(self, transcript: Transcript, *, host: bool) -> list[str]:
        spine = transcript.spine
        seqs = transcript.projection.branch.seqs
        rows = host_branch(spine)[0] if host else sorted({spine.row_of(seq) for seq in seqs})
        uuids = [json.loads(transcript.line(row))["uuid"] for row in rows]
        return [str(uuid).removeprefix("uuid-") for uuid in uuids]


def turn(response: str = "m1") -> Writer:
    """Return a writer that holds a prompt ``p`` and its answer ``a``."""
    writer = Writer()
    writer.user("p")
    writer.text("a", "p", response)
    return writer


def two_calls(writer: Writer, under: str = "a") -> Writer:
    """Add a prompt ``q`` and one response with the calls ``c1`` and ``c2``."""
    writer.user("q", under)
    writer.call("c1", "q", "m2")
    writer.call("c2", "c1", "m2")
    return writer
