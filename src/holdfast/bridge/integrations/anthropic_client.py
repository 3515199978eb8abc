"""The client of `anthropic`: `watch(client)`, sync or async, with streams.

Messages are calls of a model, beta ones, too; other requests pass by. Tools are the caller's own
functions: `@dbg.tool` is for them.
"""

from __future__ import annotations

from typing import Any, TypeVar

from anthropic import AsyncAnthropic

from holdfast.bridge import Bridge, active
from holdfast.bridge.answer_summary import AnswerSummary, describe_answer
from holdfast.bridge.integrations import _http_clients

ClientT = TypeVar("ClientT")


def watch(client: ClientT, dbg: Bridge | None = None, *, lane: str | None = None) -> ClientT:
    """Record and steer what this client asks of models; returns the client."""
    is_async = isinstance(client, AsyncAnthropic)
    return _http_clients.watch(client, dbg or active(), AnthropicDialect(), lane, is_async=is_async)


class AnthropicDialect:
    provider = "anthropic"

    def is_model_call(self, url: str, body: dict[str, Any]) -> bool:
        return url.partition("?")[0] == "/v1/messages"

    def messages(self, url: str, body: dict[str, Any]) -> list[Any]:
        system = body.get("system")
        first = [] if system is None else [{"role": "system", "content": system}]
        return [*first, *(body.get("messages") or [])]

    def with_messages(self, url: str, body: dict[str, Any], messages: list[Any]) -> dict[str, Any]:
        changed = {name: value for name, value in body.items() if name != "system"}
        if messages and messages[0].get("role") == "system":
            changed["system"] = messages[0]["content"]
            messages = messages[1:]
        return {**changed, "messages": messages}

    def describe(self, url: str, body: Any) -> AnswerSummary:
        blocks = body.get("content") or []
        calls = [_tool_call(block) for block in blocks if block.get("type") == "tool_use"]
        summary = describe_answer(body)
        summary["content"] = "".join(block.get("text", "") for block in blocks)
        if calls:
            summary["toolCalls"] = calls
        return summary

    def describe_events(self, url: str, events: list[Any]) -> AnswerSummary:
        blocks = [event["content_block"] for event in events if "content_block" in event]
        calls = [_tool_call(block) for block in blocks if block.get("type") == "tool_use"]
        summary = describe_answer(events)
        return {**summary, "toolCalls": calls} if calls else summary

    def answer(self, url: str, text: str, model: str | None) -> dict[str, Any]:
        return {
            "id": "holdfast",
            "type": "message",
            "role": "assistant",
            "model": model or "",
            "content": [{"type": "text", "text": text}],
            "stop_reason": "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 0, "output_tokens": 0},
        }


def _tool_call(block: dict[str, Any]) -> dict[str, Any]:
    return {"id": block.get("id"), "name": block.get("name")}
