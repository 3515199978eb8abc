"""A summary of a model's answer, of any common client: why it stopped, what it used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypedDict, cast


class TokenUsage(TypedDict, total=False):
    inputTokens: int
    outputTokens: int


class AnswerSummary(TypedDict, total=False):
    """What an `api_response` event says of an answer."""

    stopReason: object
    usage: TokenUsage
    content: object
    toolCalls: list[dict[str, object]]
    """The `id` and `name` of each tool that the model asks for."""


def drop_empty(fields: Mapping[str, object]) -> AnswerSummary:
    """A summary without the fields that say nothing."""
    kept = {name: value for name, value in fields.items() if value not in (None, {}, [])}
    return cast(AnswerSummary, kept)


def copy_message(message: dict[str, Any]) -> Any:
    return dict(message)


def describe_answer(result: Any) -> AnswerSummary:
    """Of the shapes of the common clients, as objects or as dicts; empty for anything else."""
    if isinstance(result, str):
        return {"content": result}
    if isinstance(result, list):
        return _describe_chunks(result)
    choice = _get_first(_get(result, "choices"))
    message = _get(choice, "message") if choice is not None else result
    summary = {
        "stopReason": _get(choice, "finish_reason") or _get(result, "stop_reason"),
        "usage": _usage(_get(result, "usage")),
        "content": _get(message, "content"),
        "toolCalls": _tool_calls(_get(message, "tool_calls")),
    }
    return drop_empty(summary)


def _describe_chunks(chunks: list[Any]) -> AnswerSummary:
    """Of a stream: the last word on each."""
    summary: AnswerSummary = {}
    text: list[str] = []
    for chunk in chunks:
        if isinstance(chunk, str):
            text.append(chunk)
            continue
        choice = _get_first(_get(chunk, "choices"))
        delta = _get(choice, "delta") or _get(chunk, "delta")
        for piece in (_get(delta, "content"), _get(delta, "text")):
            if isinstance(piece, str):
                text.append(piece)
        stop = (
            _get(choice, "finish_reason")
            or _get(delta, "stop_reason")
            or _get(chunk, "stop_reason")
        )
        if isinstance(stop, str):
            summary["stopReason"] = stop
        if usage := _usage(_get(chunk, "usage") or _get(_get(chunk, "message"), "usage")):
            summary["usage"] = {**summary.get("usage", {}), **usage}
    if text:
        summary["content"] = "".join(text)
    return summary


def _usage(usage: Any) -> TokenUsage:
    counts: dict[str, int] = {}
    names = {
        "inputTokens": ("input_tokens", "prompt_tokens", "inputTokens"),
        "outputTokens": ("output_tokens", "completion_tokens", "outputTokens"),
    }
    for name, spellings in names.items():
        for spelling in spellings:
            count = _get(usage, spelling)
            if isinstance(count, int) and not isinstance(count, bool):
                counts[name] = count
                break
    return cast(TokenUsage, counts)


def _tool_calls(calls: Any) -> list[dict[str, object]]:
    if not isinstance(calls, (list, tuple)):
        return []
    summaries = []
    for call in calls:
        inner = _get(call, "function") or call
        summaries.append({"id": _get(call, "id"), "name": _get(inner, "name")})
    return summaries


def _get_first(items: Any) -> Any:
    return items[0] if isinstance(items, (list, tuple)) and items else None


def _get(thing: Any, name: str) -> Any:
    if thing is None:
        return None
    if isinstance(thing, Mapping):
        return thing.get(name)
    try:
        return getattr(thing, name, None)
    except Exception:  # a property of somebody else's class
        return None
