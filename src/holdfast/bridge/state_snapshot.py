"""What `inspect` shows of a loop."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from holdfast.bridge.recorded_values import encode_value
from holdfast.wire import message_text

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
    roles = Counter(_find_role(message) for message in messages)
    recent = [_describe_message(message) for message in messages[-_RECENT:]]
    summary: dict[str, Any] = {"count": len(messages), "roles": dict(roles), "recent": recent}
    if shown is not None:
        begin = shown.first if shown.first >= 0 else max(0, len(messages) + shown.first)
        end = None if shown.count is None else begin + shown.count
        summary["first"], summary["items"] = begin, messages[begin:end]
    return summary


def _find_role(message: Any) -> str:
    """A message may be an object of a client library, too."""
    if not isinstance(message, Mapping):
        role = getattr(message, "role", None)
        return role if isinstance(role, str) else "?"
    return message_text.find_author(message) or "?"


def _describe_message(message: Any) -> dict[str, Any]:
    if not isinstance(message, dict):
        message = json.loads(encode_value(message))
    author, text = message_text.format_message(message)
    return {"role": author or None, "preview": text[:_PREVIEW]}


def describe_context(size: int, limit: int | None, summary: str | None) -> dict[str, Any]:
    """`size` is that of all messages, in characters."""
    return {
        "tokenEstimate": size // 4,  # four characters a token is what English text comes to
        "maxTokens": limit,
        "hasSummary": summary is not None,
        "summaryPreview": None if summary is None else summary[:_PREVIEW],
        "summary": summary,
    }


def list_variables(owner: Any) -> dict[str, Any]:
    variables = owner if isinstance(owner, Mapping) else getattr(owner, "__dict__", {})
    return {str(name): value for name, value in list(variables.items())}
