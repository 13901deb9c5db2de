"""The scripted model in the forms of OpenAI's Responses API and of Gemini's generateContent.

A request is translated to the form that the scripts know, and the answer back, so that
a script is the same for each program.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from model import Request, _Answer, _Handler


class _Dialect(_Handler):
    """An endpoint whose requests are translated to the Messages API."""

    paths: tuple[str, ...] = ()

    def do_POST(self) -> None:
        path = self.path.partition("?")[0]
        raw = self._body()
        try:
            if path.endswith(self.paths):
                headers = {key.lower(): value for key, value in self.headers.items()}
                request = Request(path, headers, self.translated(json.loads(raw)))
                self._answer(request)
            else:
                self._json(200, {})
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def _body(self) -> bytes:
        length = self.headers.get("content-length")
        if length is not None:
            return self.rfile.read(int(length))
        parts = []
        while size := int(self.rfile.readline().strip() or b"0", 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def _answer(self, request: Request) -> None:
        _, answer = self.server.script.answer(request)
        if "stream" not in request.path and not request.body["stream"]:
            self._json(200, list(self.events(answer))[-1])
            return
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        for event in self.events(answer):
            name = f"event: {event['type']}\n" if "type" in event else ""
            data = json.dumps(event, ensure_ascii=False)
            self.wfile.write(f"{name}data: {data}\n\n".encode())
            self.wfile.flush()
        self.close_connection = True

    def translated(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return a request of this dialect as one of the Messages API."""
        raise NotImplementedError

    def events(self, answer: _Answer) -> Iterator[dict[str, Any]]:
        """Yield an answer as this dialect streams it; the last one holds the whole."""
        raise NotImplementedError


class Responses(_Dialect):
    """OpenAI's Responses API, as codex-cli 0.171.0 asks it.

    Codex offers the tools of a server below a namespace, and wants it with each call.
    """

    paths = ("/responses",)

    def translated(self, body: dict[str, Any]) -> dict[str, Any]:
        tools = []
        for tool in body.get("tools", []):
            if tool.get("type") == "namespace":
                inner = [{**one, "name": f"{tool['name']}/{one['name']}"} for one in tool["tools"]]
                tools += inner
            elif "name" in tool:
                tools.append(tool)
        messages = [_from_responses(item) for item in body["input"]]
        kept = [message for message in messages if message]
        return {"model": body["model"], "stream": True, "tools": tools, "messages": kept}

    def events(self, answer: _Answer) -> Iterator[dict[str, Any]]:
        yield {"type": "response.created", "response": {"id": answer.id}}
        for block in answer.content():
            yield {"type": "response.output_item.done", "item": _to_responses(answer.id, block)}
        usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
        yield {"type": "response.completed", "response": {"id": answer.id, "usage": usage}}


def _from_responses(item: dict[str, Any]) -> dict[str, Any] | None:
    if item["type"] == "function_call_output":
        output = item["output"]
        text = output if isinstance(output, str) else json.dumps(output, ensure_ascii=False)
        result = {"type": "tool_result", "tool_use_id": item["call_id"], "content": text}
        return {"role": "user", "content": [result]}
    if item["type"] == "message":
        text = "".join(part.get("text", "") for part in item["content"])
        return {"role": item["role"], "content": text}
    return None


def _to_responses(id: str, block: dict[str, Any]) -> dict[str, Any]:
    if block["type"] == "native":
        item: dict[str, Any] = block["item"]
        return item
    if block["type"] == "text":
        content = [{"type": "output_text", "text": block["text"]}]
        return {"type": "message", "role": "assistant", "id": id, "content": content}
    namespace, _, name = block["name"].rpartition("/")
    call = {"type": "function_call", "call_id": block["id"], "name": name}
    call["arguments"] = json.dumps(block["input"])
    return {**call, "namespace": namespace} if namespace else call


class Gemini(_Dialect):
    """Gemini's generateContent, as gemini-cli 0.61.0 asks it."""

    paths = (":streamGenerateContent", ":generateContent")

    def translated(self, body: dict[str, Any]) -> dict[str, Any]:
        offered = [one for part in body.get("tools", []) for one in _functions(part)]
        messages = [_from_gemini(content) for content in body["contents"]]
        return {"model": "scripted", "stream": False, "tools": offered, "messages": messages}

    def events(self, answer: _Answer) -> Iterator[dict[str, Any]]:
        parts = [_to_gemini(block) for block in answer.content()]
        usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
        content = {"role": "model", "parts": parts}
        candidate = {"content": content, "finishReason": "STOP", "index": 0}
        yield {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "scripted"}


def _functions(part: dict[str, Any]) -> list[dict[str, Any]]:
    declared = part.get("functionDeclarations", [])
    return [{**one, "input_schema": one.get("parametersJsonSchema")} for one in declared]


def _from_gemini(content: dict[str, Any]) -> dict[str, Any]:
    blocks: list[dict[str, Any]] = []
    for part in content["parts"]:
        if "functionResponse" in part:
            sent = part["functionResponse"]
            text = json.dumps(sent["response"], ensure_ascii=False)
            blocks.append({"type": "tool_result", "tool_use_id": sent.get("id"), "content": text})
        elif "text" in part:
            blocks.append({"type": "text", "text": part["text"]})
    return {"role": content.get("role", "user"), "content": blocks}


def _to_gemini(block: dict[str, Any]) -> dict[str, Any]:
    if block["type"] == "text":
        return {"text": block["text"]}
    return {"functionCall": {"name": block["name"], "args": block["input"], "id": block["id"]}}
