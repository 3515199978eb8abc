"""A summary of a model's answer, of any common client: why it stopped, what it used."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypedDict, cast


class TokenUsage(TypedDict, total=False):
    inputTokens: int
    """All of them, with those that came from a cache."""
    cachedTokens: int
    """Of the input tokens, those that the provider had in its cache."""
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


def build_usage(given: int, answered: int, cached: int | None = None) -> TokenUsage:
    """`given` are all input tokens, with the `cached` ones."""
    usage: TokenUsage = {"inputTokens": given, "outputTokens": answered}
    if cached:
        usage["cachedTokens"] = cached
    return usage


def copy_message(message: dict[str, Any]) -> Any:
    return dict(message)


def describe_answer(result: Any) -> AnswerSummary:
    """Of the shapes of the common clients, as objects or as dicts; empty for anything else."""
    if isinstance(result, str):
        return {"content": result}
    if isinstance(result, list):
        return _describe_chunks(result)
    output = _get(result, "output")
    if isinstance(output, (list, tuple)):
        return describe_items(output, _get(result, "usage"), _get(result, "status"))
    choice = _get_first(_get(result, "choices"))
    message = _get(choice, "message") if choice is not None else result
    content = _get(message, "content")
    if content is None and isinstance(output, str):
        content = output  # what a run of pydantic-ai gives
    summary = {
        "stopReason": _get(choice, "finish_reason") or _get(result, "stop_reason"),
        "usage": _usage(_get(result, "usage")),
        "content": content,
        "toolCalls": _tool_calls(_get(message, "tool_calls")) or _tool_uses(content),
    }
    return drop_empty(summary)


def describe_items(items: Iterable[Any], usage: Any, status: Any = None) -> AnswerSummary:
    """Of the items that OpenAI's responses have, as objects or as dicts."""
    texts, calls = [], []
    for item in items:
        match _get(item, "type"):
            case "message":
                for part in _get(item, "content") or ():
                    text = _get(part, "text") or _get(part, "refusal")
                    texts.append(text if isinstance(text, str) else "")
            case "function_call" | "custom_tool_call":
                calls.append({"id": _get(item, "call_id"), "name": _get(item, "name")})
    summary = {
        "stopReason": status,
        "usage": _usage(usage),
        "content": "".join(texts) or None,
        "toolCalls": calls,
    }
    return drop_empty(summary)


def _tool_uses(content: Any) -> list[dict[str, object]]:
    """The tools that the blocks of an answer of Anthropic's ask for."""
    if not isinstance(content, (list, tuple)):
        return []
    return [
        {"id": _get(block, "id"), "name": _get(block, "name")}
        for block in content
        if _get(block, "type") == "tool_use"
    ]


def _describe_chunks(chunks: list[Any]) -> AnswerSummary:
    """Of a stream: the last word on each."""
    summary: AnswerSummary = {}
    text: list[str] = []
    calls: list[dict[str, object]] = []
    for chunk in chunks:
        if isinstance(chunk, str):
            text.append(chunk)
            continue
        if _get(chunk, "type") in ("response.completed", "response.incomplete"):
            return describe_answer(_get(chunk, "response"))
        choice = _get_first(_get(chunk, "choices"))
        delta = _get(choice, "delta") or _get(chunk, "delta")
        for piece in (_get(delta, "content"), _get(delta, "text")):
            if isinstance(piece, str):
                text.append(piece)
        # Of a call that comes in pieces, the first one names it.
        calls += [call for call in _tool_calls(_get(delta, "tool_calls")) if call["id"]]
        calls += _tool_uses([_get(chunk, "content_block")])
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
    if calls:
        summary["toolCalls"] = calls
    return summary


_COUNTS = (
    ("inputTokens", ("input_tokens", "prompt_tokens", "inputTokens")),
    ("outputTokens", ("output_tokens", "completion_tokens", "outputTokens")),
)
"""The counts of a `TokenUsage`, and how the common clients spell them."""


def _usage(usage: Any) -> TokenUsage:
    if usage is None:
        return {}
    counts: dict[str, int] = {}
    for name, spellings in _COUNTS:
        for spelling in spellings:
            count = _get(usage, spelling)
            if _is_count(count):
                counts[name] = count
                break
    if type(usage) is dict and len(usage) == len(counts):
        return cast(TokenUsage, counts)  # it says nothing else
    cached = _cached_tokens(usage)
    if cached:
        counts["cachedTokens"] = cached
    # Anthropic counts what it reads from its cache, or writes there, apart from other input.
    apart = [_get(usage, f"cache_{what}_input_tokens") for what in ("read", "creation")]
    if "inputTokens" in counts:
        counts["inputTokens"] += sum(count for count in apart if _is_count(count))
    return cast(TokenUsage, counts)


def _cached_tokens(usage: Any) -> int | None:
    """Under the names of the common clients; None if it is not said."""
    found = [_get(usage, name) for name in ("cache_read_input_tokens", "cachedTokens")]
    for details in ("prompt_tokens_details", "input_tokens_details"):
        found.append(_get(_get(usage, details), "cached_tokens"))
    return next((count for count in found if _is_count(count)), None)


def _is_count(value: Any) -> bool:
    return type(value) is int or (isinstance(value, int) and not isinstance(value, bool))


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
    if type(thing) is dict:
        return thing.get(name)
    if thing is None:
        return None
    if isinstance(thing, Mapping):
        return thing.get(name)
    try:
        return getattr(thing, name, None)
    except Exception:  # a property of somebody else's class
        return None
