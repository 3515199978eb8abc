"""What is said of a conversation that is not shown whole: size, roles, the last messages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

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


def _show(message: Any) -> Any:
    return message


def summarize_messages(
    messages: list[Any],
    shown: MessageRange | None = None,
    show: Callable[[Any], Any] = _show,
) -> dict[str, Any]:
    """How many there are and what the last ones say; those that are `shown`, whole, as `items`.

    `show` gives a message as JSON, where it may be an object of a client library.
    """
    roles = Counter(_find_role(message) for message in messages)
    recent = [_describe_message(show(message)) for message in messages[-_RECENT:]]
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
