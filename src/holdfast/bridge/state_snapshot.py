"""What `inspect` shows of a loop."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from holdfast.wire import agent_lines

_RECENT = 3
_PREVIEW = 200


@dataclass(frozen=True)
class MessageRange:
    """Which messages are shown whole."""

    first: int = 0
    """From 0 on; below 0, from the end."""
    count: int | None = None
    """All that come then, if there is none."""


def summarize_messages(messages: list[Any], shown: MessageRange | None = None) -> dict[str, Any]:
    """How many there are and what the last ones say; those that are `shown`, whole, as `items`."""
    objects = [item if isinstance(item, dict) else {"content": item} for item in messages]
    roles = Counter(str(message.get("role", "?")) for message in objects)
    recent = [
        {"role": message.get("role"), "preview": _preview(message.get("content"))}
        for message in objects[-_RECENT:]
    ]
    summary: dict[str, Any] = {"count": len(objects), "roles": dict(roles), "recent": recent}
    if shown is not None:
        begin = shown.first if shown.first >= 0 else max(0, len(messages) + shown.first)
        end = None if shown.count is None else begin + shown.count
        summary["first"], summary["items"] = begin, messages[begin:end]
    return summary


def describe_context(size: int, limit: int | None, summary: str | None) -> dict[str, Any]:
    """`size` is that of all messages, in characters."""
    return {
        "tokenEstimate": size // 4,  # four characters a token is what English text comes to
        "maxTokens": limit,
        "hasSummary": summary is not None,
        "summaryPreview": None if summary is None else _preview(summary),
        "summary": summary,
    }


def list_variables(owner: Any) -> dict[str, Any]:
    variables = owner if isinstance(owner, Mapping) else getattr(owner, "__dict__", {})
    return {str(name): value for name, value in list(variables.items())}


def _preview(content: Any) -> str:
    return (content if isinstance(content, str) else agent_lines.encode_json(content))[:_PREVIEW]
