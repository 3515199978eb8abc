"""The client of `openai`: `watch(client)`, sync or async, with streams.

Chat completions and responses are calls of a model; other requests pass by. Tools are the caller's
own functions: `@dbg.tool` is for them.
"""

from __future__ import annotations

from typing import Any, TypeVar

from openai import AsyncOpenAI

from holdfast.bridge import Bridge, active
from holdfast.bridge.answer_summary import AnswerSummary, describe_answer, describe_items
from holdfast.bridge.integrations import _http_clients

ClientT = TypeVar("ClientT")


def watch(client: ClientT, dbg: Bridge | None = None, *, lane: str | None = None) -> ClientT:
    """Record and steer what this client asks of models; returns the client."""
    is_async = isinstance(client, AsyncOpenAI)
    return _http_clients.watch(client, dbg or active(), OpenAIDialect(), lane, is_async=is_async)


class OpenAIDialect:
    provider = "openai"

    def is_model_call(self, url: str, body: dict[str, Any]) -> bool:
        return url in ("/chat/completions", "/responses")

    def messages(self, url: str, body: dict[str, Any]) -> list[Any]:
        if url == "/chat/completions":
            return list(body.get("messages") or [])
        instructions, asked = body.get("instructions"), body.get("input") or []
        first = [] if instructions is None else [{"role": "system", "content": instructions}]
        return first + ([{"role": "user", "content": asked}] if isinstance(asked, str) else asked)

    def with_messages(self, url: str, body: dict[str, Any], messages: list[Any]) -> dict[str, Any]:
        if url == "/chat/completions":
            return {**body, "messages": messages}
        changed = {name: value for name, value in body.items() if name != "instructions"}
        if "instructions" in body and messages and messages[0].get("role") == "system":
            changed["instructions"] = messages[0]["content"]
            messages = messages[1:]
        return {**changed, "input": messages}

    def describe(self, url: str, body: Any) -> AnswerSummary:
        return describe_answer(body) if url == "/chat/completions" else _describe_response(body)

    def describe_events(self, url: str, events: list[Any]) -> AnswerSummary:
        if url == "/responses":
            ended = [event["response"] for event in events if "response" in event]
            return _describe_response(ended[-1]) if ended else {}
        calls: dict[int, dict[str, Any]] = {}
        for event in events:
            for choice in event.get("choices") or []:
                for piece in choice.get("delta", {}).get("tool_calls") or []:
                    call = calls.setdefault(piece.get("index", 0), {})
                    name = (piece.get("function") or {}).get("name")
                    call |= {"id": piece["id"]} if piece.get("id") else {}
                    call |= {"name": name} if name else {}
        summary = describe_answer(events)
        return {**summary, "toolCalls": list(calls.values())} if calls else summary

    def answer(self, url: str, text: str, model: str | None) -> dict[str, Any]:
        about: dict[str, Any] = {"id": "holdfast", "model": model or ""}
        if url == "/chat/completions":
            message = {"role": "assistant", "content": text}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            return {**about, "object": "chat.completion", "created": 0, "choices": [choice]}
        part = {"type": "output_text", "text": text, "annotations": []}
        item = {"type": "message", "id": "holdfast", "role": "assistant", "status": "completed"}
        about |= {"object": "response", "created_at": 0, "status": "completed", "tools": []}
        about |= {"parallel_tool_calls": False, "tool_choice": "auto"}
        return {**about, "output": [{**item, "content": [part]}]}


def _describe_response(body: Any) -> AnswerSummary:
    """Of the responses API."""
    return describe_items(body.get("output") or (), body.get("usage"), body.get("status"))
