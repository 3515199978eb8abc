"""The HTTP interfaces of OpenAI and Anthropic, on loopback, following the script of the contract.

Streams come in small pieces, cut anywhere, as they do from afar.
"""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from contract import Outside

CALL = {"to": "ann", "text": "hi"}


class FakeApis:
    def __init__(self, outside: Outside | None = None) -> None:
        self.outside = outside or Outside()
        self.requests: list[tuple[str, dict[str, Any]]] = []
        self.tool, self.call = "send", CALL
        """What the model asks for first."""
        self.text: str | None = None
        """What it says when there is nothing to ask for; a greeting otherwise."""
        self.failures = 0
        """How many requests are yet to be answered with an error of the server."""
        fake = self

        class Handler(_Handler):
            apis = fake

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    apis: FakeApis

    def log_message(self, *args: Any) -> None:
        pass

    def do_HEAD(self) -> None:
        self._send(b"", "text/plain")

    def do_GET(self) -> None:
        self._send(b'{"data":[],"object":"list"}', "application/json")

    def do_POST(self) -> None:
        length = int(self.headers.get("content-length") or 0)
        body = json.loads(self.rfile.read(length) or b"{}")
        path = self.path.partition("?")[0]
        self.apis.requests.append((path, body))
        if self.apis.failures:
            self.apis.failures -= 1
            self._send(b'{"error":{"message":"busy"}}', "application/json", 500)
        elif path.endswith("/chat/completions"):
            self._asked(body, body["messages"], chat, chat_events)
        elif path.endswith("/responses"):
            self._asked(body, body["input"], responses, responses_events)
        elif path.endswith("/messages"):
            self._asked(body, body["messages"], messages, messages_events)
        else:
            self._send(b'{"input_tokens":10,"data":[],"object":"list"}', "application/json")

    def _asked(self, body: dict[str, Any], asked: Any, whole: Any, events: Any) -> None:
        items = [{"role": "user", "content": asked}] if isinstance(asked, str) else asked
        results, users = list_results_and_inputs(items)
        text = f"{results[-1]} | {', '.join(users)}" if results else None
        tools = [each.get("name") or each["function"]["name"] for each in body.get("tools") or []]
        if text is None and self.apis.tool not in tools:
            text = self.apis.text or f"hello {', '.join(users)}"
        else:
            self.apis.outside.asked += 1
        call = None if text is not None else (self.apis.tool, self.apis.call)
        if body.get("stream"):
            self._stream(events(text, call))
        else:
            self._send(json.dumps(whole(text, call)).encode(), "application/json")

    def _send(self, body: bytes, kind: str, status: int = 200) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.send_header("request-id", "req_1")
        self.send_header("x-request-id", "req_1")
        self.end_headers()
        self.wfile.write(body)

    def _stream(self, events: list[tuple[str | None, Any]]) -> None:
        text = ""
        for name, data in events:
            text += f"event: {name}\n" if name else ""
            text += f"data: {data if isinstance(data, str) else json.dumps(data)}\n\n"
        body = text.encode()
        self.send_response(200)
        self.send_header("content-type", "text/event-stream; charset=utf-8")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for at in range(0, len(body), 37):
            piece = body[at : at + 37]
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
        self.wfile.write(b"0\r\n\r\n")


def list_results_and_inputs(items: list[Any]) -> tuple[list[str], list[str]]:
    """What tools gave, and what users said."""
    results, users = [], []
    for item in items:
        content = item.get("content")
        if item.get("role") == "tool":
            results.append(str(content))
        elif item.get("type") == "function_call_output":
            results.append(str(item["output"]))
        elif item.get("role") == "user" and isinstance(content, str):
            users.append(content)
        elif item.get("role") == "user":
            for part in content or []:
                if part.get("type") == "tool_result":
                    results.append(_text(part.get("content")))
                elif part.get("type") in ("text", "input_text"):
                    users.append(part["text"])
    return results, users


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "".join(part.get("text", "") for part in content)
    return str(content)


# -- chat completions ------------------------------------------------------------------------------

USAGE = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}


def _message(text: str | None, call: Any) -> dict[str, Any]:
    if call is None:
        return {"role": "assistant", "content": text}
    function = {"name": call[0], "arguments": json.dumps(call[1])}
    calls = [{"index": 0, "id": "c1", "type": "function", "function": function}]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def chat(text: str | None, call: Any) -> dict[str, Any]:
    stop = "stop" if call is None else "tool_calls"
    choice = {"index": 0, "message": _message(text, call), "finish_reason": stop}
    about = {"id": "x1", "object": "chat.completion", "created": 1, "model": "fake"}
    return {**about, "choices": [choice], "usage": USAGE}


def chat_events(text: str | None, call: Any) -> list[tuple[str | None, Any]]:
    about = {"id": "x1", "object": "chat.completion.chunk", "created": 1, "model": "fake"}
    deltas = (
        [{"role": "assistant", "content": word} for word in split_words(text or "")]
        if call is None
        else [_message(text, call)]
    )
    stop = "stop" if call is None else "tool_calls"
    chunks: list[dict[str, Any]] = [
        {"index": 0, "delta": delta, "finish_reason": None} for delta in deltas
    ]
    chunks.append({"index": 0, "delta": {}, "finish_reason": stop})
    events: list[tuple[str | None, Any]] = [
        (None, {**about, "choices": [chunk]}) for chunk in chunks
    ]
    return [*events, (None, {**about, "choices": [], "usage": USAGE}), (None, "[DONE]")]


def split_words(text: str) -> list[str]:
    first, *others = text.split(" ")
    return [first, *(f" {other}" for other in others)]


# -- responses -------------------------------------------------------------------------------------


def responses(text: str | None, call: Any) -> dict[str, Any]:
    if call is None:
        part: dict[str, Any] = {"type": "output_text", "text": text, "annotations": []}
        about = {"type": "message", "id": "m1", "role": "assistant", "status": "completed"}
        item: dict[str, Any] = {**about, "content": [part]}
    else:
        asked = {"call_id": "c1", "name": call[0], "arguments": json.dumps(call[1])}
        item = {"type": "function_call", "id": "f1", "status": "completed", **asked}
    usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
    usage |= {"input_tokens_details": {"cached_tokens": 0}}  # type: ignore[dict-item]
    usage |= {"output_tokens_details": {"reasoning_tokens": 0}}  # type: ignore[dict-item]
    return {
        "id": "r1",
        "object": "response",
        "created_at": 1,
        "model": "fake",
        "tools": [],
        "status": "completed",
        "output": [item],
        "usage": usage,
        "parallel_tool_calls": False,
        "tool_choice": "auto",
    }


def responses_events(text: str | None, call: Any) -> list[tuple[str | None, Any]]:
    whole = responses(text, call)
    item = whole["output"][0]
    place = {"output_index": 0, "item_id": item["id"]}
    begun = {**whole, "status": "in_progress", "output": [], "usage": None}
    events: list[dict[str, Any]] = [{"type": "response.created", "response": begun}]
    if call is None:
        empty = {"type": "output_text", "text": "", "annotations": []}
        events.append(
            {"type": "response.output_item.added", **place, "item": {**item, "content": []}}
        )
        events.append(
            {"type": "response.content_part.added", **place, "content_index": 0, "part": empty}
        )
        for word in split_words(text or ""):
            events.append(
                {
                    "type": "response.output_text.delta",
                    **place,
                    "content_index": 0,
                    "delta": word,
                    "logprobs": [],
                }
            )
    else:
        events.append({"type": "response.output_item.added", **place, "item": item})
    events.append({"type": "response.output_item.done", **place, "item": item})
    events.append({"type": "response.completed", "response": whole})
    return [(each["type"], {**each, "sequence_number": at}) for at, each in enumerate(events)]


# -- messages --------------------------------------------------------------------------------------


def messages(text: str | None, call: Any) -> dict[str, Any]:
    block: dict[str, Any] = (
        {"type": "text", "text": text}
        if call is None
        else {"type": "tool_use", "id": "toolu_1", "name": call[0], "input": call[1]}
    )
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "fake",
        "content": [block],
        "stop_reason": "end_turn" if call is None else "tool_use",
        "stop_sequence": None,
        "usage": {"input_tokens": 10, "output_tokens": 5},
    }


def messages_events(text: str | None, call: Any) -> list[tuple[str | None, Any]]:
    whole = messages(text, call)
    (block,) = whole["content"]
    begun = {**whole, "content": [], "stop_reason": None}
    begun["usage"] = {"input_tokens": 10, "output_tokens": 1}
    empty = {**block, "text": ""} if call is None else {**block, "input": {}}
    deltas: list[dict[str, Any]] = (
        [{"type": "text_delta", "text": word} for word in split_words(text or "")]
        if call is None
        else [{"type": "input_json_delta", "partial_json": json.dumps(call[1])}]
    )
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": begun},
        {"type": "content_block_start", "index": 0, "content_block": empty},
        *({"type": "content_block_delta", "index": 0, "delta": each} for each in deltas),
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": whole["stop_reason"], "stop_sequence": None},
            "usage": {"output_tokens": 5},
        },
        {"type": "message_stop"},
    ]
    return [(each["type"], each) for each in events]
