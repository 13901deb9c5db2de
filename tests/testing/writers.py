"""Writers of the built-in hosts' session formats, reduced to what the decoders read."""

from __future__ import annotations

import itertools
import json
import uuid
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from hindnote.core.plugins.models import HostCall
from hindnote.hosts.claude import plugin as claude_plugin
from hindnote.hosts.codex import plugin as codex_plugin
from hindnote.hosts.pi import plugin as pi_plugin
from hindnote.testing import Answer, Compacted, Person, Ran, Turn

STAMP = "2026-03-01T10:00:{:02d}.000Z"


def _write(file: Path, rows: Iterator[Mapping[str, Any]]) -> None:
    with file.open("a", encoding="utf-8") as out:
        for row in rows:
            out.write(json.dumps(row, ensure_ascii=False) + "\n")


def _torn(file: Path) -> bool:
    with file.open("a", encoding="utf-8") as out:
        out.write('{"type":"message","id":"torn","par\n')
    return True


class PiWriter:
    """Prints turns as Pi's session entries, version 3."""

    slug = "pi"
    plugin = pi_plugin

    def __init__(self) -> None:
        self._ids = itertools.count(1)
        self._last: str | None = None
        self._before_person: str | None = None
        self._tools: dict[str, str] = {}

    def begin(self, folder: Path) -> HostCall:
        self._last = None
        return self._begin(folder)

    def rewind(self, call: HostCall) -> None:
        self._last = self._before_person

    def fork(self, call: HostCall) -> HostCall:
        assert call.session_file is not None
        forked = self._begin(call.cwd, parentSession=str(call.session_file))
        assert forked.session_file is not None
        with forked.session_file.open("a", encoding="utf-8") as out:
            out.writelines(call.session_file.read_text("utf-8").splitlines(keepends=True)[1:])
        return forked

    def _begin(self, folder: Path, **more: str) -> HostCall:
        session = str(uuid.uuid4())
        files = folder / "agent" / "sessions" / "--work--"
        files.mkdir(parents=True, exist_ok=True)
        file = files / f"2026-03-01T10-00-00-000Z_{session}.jsonl"
        header = {"type": "session", "version": 3, "id": session, "timestamp": STAMP.format(0)}
        _write(file, iter([{**header, "cwd": str(folder), **more}]))
        return HostCall(
            host="pi",
            session_id=session,
            session_file=file,
            cwd=folder,
            config_dir=folder / "agent",
        )

    def append(self, call: HostCall, turns: Sequence[Turn]) -> None:
        assert call.session_file is not None
        _write(call.session_file, map(self._entry, turns))

    def damage(self, call: HostCall) -> bool:
        assert call.session_file is not None
        return _torn(call.session_file)

    def _entry(self, turn: Turn) -> dict[str, Any]:
        number = next(self._ids)
        if isinstance(turn, Person):
            self._before_person = self._last
        entry = {"id": f"{number:08x}", "parentId": self._last}
        entry["timestamp"] = STAMP.format(number % 60)
        self._last = entry["id"]
        if isinstance(turn, Compacted):
            return {"type": "compaction", **entry, "summary": turn.summary, "tokensBefore": 9}
        return {"type": "message", **entry, "message": self._message(turn)}

    def _message(self, turn: Person | Answer | Ran) -> dict[str, Any]:
        if isinstance(turn, Person):
            return {"role": "user", "content": [{"type": "text", "text": turn.text}]}
        if isinstance(turn, Ran):
            return {
                "role": "toolResult",
                "toolCallId": turn.call_id,
                "toolName": self._tools[turn.call_id],
                "content": [{"type": "text", "text": turn.output}],
                "isError": turn.failed,
            }
        blocks: list[dict[str, Any]] = [{"type": "text", "text": turn.text}] if turn.text else []
        for made in turn.calls:
            self._tools[made.id] = made.name
            blocks.append(
                {
                    "type": "toolCall",
                    "id": made.id,
                    "name": made.name,
                    "arguments": dict(made.arguments),
                }
            )
        stop = "toolUse" if turn.calls else "stop"
        return {"role": "assistant", "content": blocks, "stopReason": stop}


class ClaudeWriter:
    """Prints turns as Claude Code's transcript rows."""

    slug = "claude"
    plugin = claude_plugin

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._last: str | None = None
        self._before_person: str | None = None
        self._rows_of_calls: dict[str, str] = {}

    def begin(self, folder: Path) -> HostCall:
        self._last = None
        session = str(uuid.uuid4())
        files = folder / "config" / "projects" / "-work"
        files.mkdir(parents=True, exist_ok=True)
        return HostCall(
            host="claude",
            session_id=session,
            session_file=files / f"{session}.jsonl",
            cwd=folder,
            config_dir=folder / "config",
        )

    def append(self, call: HostCall, turns: Sequence[Turn]) -> None:
        assert call.session_file is not None
        file, more = call.session_file, {}
        if call.agent_id:
            file = file.with_suffix("") / "subagents" / f"agent-{call.agent_id}.jsonl"
            file.parent.mkdir(parents=True, exist_ok=True)
            more = {"isSidechain": True, "agentId": call.agent_id}
        rows = (row for turn in turns for row in self._rows(call, turn))
        _write(file, ({**row, **more} for row in rows))

    def rewind(self, call: HostCall) -> None:
        self._last = self._before_person

    def fork(self, call: HostCall) -> HostCall:
        assert call.session_file is not None
        session = str(uuid.uuid4())
        forked = call.session_file.with_name(f"{session}.jsonl")
        rows = map(json.loads, call.session_file.read_text("utf-8").splitlines())
        # As Claude Code 2.1 does: a copied answer names the session that wrote it first.
        _write(
            forked,
            (
                {**row, "sessionId": session}
                if row["type"] != "assistant"
                else {"requestSessionId": row["sessionId"], **row, "sessionId": session}
                for row in rows
            ),
        )
        return call.model_copy(update={"session_id": session, "session_file": forked})

    def delegate(self, call: HostCall) -> HostCall:
        self._last = None
        return call.model_copy(update={"agent_id": "a83738d35d4d5bb9c"})

    def damage(self, call: HostCall) -> bool:
        assert call.session_file is not None
        return _torn(call.session_file)

    def _row(self, call: HostCall, kind: str, **fields: Any) -> dict[str, Any]:
        number = next(self._numbers)
        parent, self._last = self._last, str(uuid.uuid4())
        return {
            "parentUuid": parent,
            "isSidechain": False,
            "type": kind,
            "uuid": self._last,
            "timestamp": STAMP.format(number % 60),
            "sessionId": call.session_id,
            "cwd": str(call.cwd),
            "version": "2.1.332",
            **fields,
        }

    def _rows(self, call: HostCall, turn: Turn) -> Iterator[dict[str, Any]]:
        if isinstance(turn, Person):
            self._before_person = self._last
            yield self._row(call, "user", message={"role": "user", "content": turn.text})
        elif isinstance(turn, Ran):
            block = {
                "type": "tool_result",
                "tool_use_id": turn.call_id,
                "content": turn.output,
                "is_error": turn.failed,
            }
            message = {"role": "user", "content": [block]}
            source = self._rows_of_calls[turn.call_id]
            yield self._row(call, "user", message=message, sourceToolAssistantUUID=source)
        elif isinstance(turn, Answer):
            yield from self._answer(call, turn)
        else:
            yield from self._compaction(call, turn)

    def _answer(self, call: HostCall, turn: Answer) -> Iterator[dict[str, Any]]:
        blocks: list[dict[str, Any]] = [{"type": "text", "text": turn.text}] if turn.text else []
        for made in turn.calls:
            block = {"type": "tool_use", "id": made.id, "name": made.name}
            blocks.append({**block, "input": dict(made.arguments)})
        message_id = f"msg_{next(self._numbers)}"
        for index, block in enumerate(blocks):
            message = {"id": message_id, "role": "assistant", "content": [block]}
            row = self._row(call, "assistant", message=message, apiBlockIndex=index)
            if block["type"] == "tool_use":
                self._rows_of_calls[block["id"]] = row["uuid"]
            yield row

    def _compaction(self, call: HostCall, turn: Compacted) -> Iterator[dict[str, Any]]:
        before, self._last = self._last, None
        yield self._row(
            call,
            "system",
            subtype="compact_boundary",
            logicalParentUuid=before,
            content="Compacted",
        )
        message = {"role": "user", "content": turn.summary}
        yield self._row(
            call, "user", message=message, isCompactSummary=True, isVisibleInTranscriptOnly=True
        )


class CodexWriter:
    """Prints turns as the rows of Codex's rollouts."""

    slug = "codex"
    plugin = codex_plugin

    def __init__(self) -> None:
        self._threads = itertools.count(1)
        self._numbers = itertools.count(1)

    def begin(self, folder: Path) -> HostCall:
        call = HostCall(host="codex", cwd=folder, config_dir=folder / "codex")
        return self._begin(call)

    def _begin(self, call: HostCall, **more: Any) -> HostCall:
        thread = str(uuid.UUID(int=(0x019AD000_0000_7000_8000 << 48) + next(self._threads)))
        files = call.cwd / "codex" / "sessions" / "2026" / "03" / "01"
        files.mkdir(parents=True, exist_ok=True)
        file = files / f"rollout-2026-03-01T10-00-00-{thread}.jsonl"
        head = {"id": thread, "session_id": thread, "timestamp": STAMP.format(0)}
        head |= {"cwd": str(call.cwd), "cli_version": "0.171.0", **more}
        _write(file, iter([self._row("session_meta", **head)]))
        return call.model_copy(update={"session_id": thread, "session_file": file})

    def append(self, call: HostCall, turns: Sequence[Turn]) -> None:
        _write(self._file(call), (row for turn in turns for row in self._rows(turn)))

    def rewind(self, call: HostCall) -> None:
        event = self._row("event_msg", type="thread_rolled_back", num_turns=1)
        _write(self._file(call), iter([event]))

    def fork(self, call: HostCall) -> HostCall:
        file = self._file(call)
        base = {"thread_id": call.session_id, "end_byte_offset": file.stat().st_size}
        base |= {"end_ordinal_exclusive": len(file.read_bytes().splitlines())}
        return self._begin(call, forked_from_id=call.session_id, history_base=base)

    def delegate(self, call: HostCall) -> HostCall:
        main = call.session_id
        sent = self._begin(call, session_id=main, parent_thread_id=main)
        return call.model_copy(update={"agent_id": sent.session_id})

    def damage(self, call: HostCall) -> bool:
        return _torn(self._file(call))

    def _file(self, call: HostCall) -> Path:
        assert call.session_file is not None
        if call.agent_id is None:
            return call.session_file
        (found,) = call.session_file.parent.glob(f"*-{call.agent_id}.jsonl")
        return found

    def _row(self, kind: str, **payload: Any) -> dict[str, Any]:
        number = next(self._numbers)
        return {"timestamp": STAMP.format(number % 60), "type": kind, "payload": payload}

    def _message(self, role: str, text: str) -> dict[str, Any]:
        content = [{"type": "output_text" if role == "assistant" else "input_text", "text": text}]
        item: dict[str, Any] = {"type": "message", "id": f"msg_{next(self._numbers)}"}
        return self._row("response_item", **item, role=role, content=content)

    def _rows(self, turn: Turn) -> Iterator[dict[str, Any]]:
        if isinstance(turn, Person):
            yield self._message("user", turn.text)
        elif isinstance(turn, Compacted):
            yield self._row("compacted", message=turn.summary, replacement_history=[])
        elif isinstance(turn, Ran):
            status = "failed" if turn.failed else "completed"
            item = {"type": "CommandExecution", "id": turn.call_id, "status": status}
            yield self._row("event_msg", type="item_completed", item=item)
            yield self._row(
                "response_item",
                type="function_call_output",
                call_id=turn.call_id,
                output=turn.output,
            )
        else:
            if turn.text:
                yield self._message("assistant", turn.text)
            for made in turn.calls:
                yield self._row(
                    "response_item",
                    type="function_call",
                    call_id=made.id,
                    name=made.name,
                    arguments=json.dumps(dict(made.arguments), ensure_ascii=False),
                )
            yield self._row("token_usage_record")
