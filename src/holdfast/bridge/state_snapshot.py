"""What `inspect` shows of a loop, made of what it has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from holdfast.wire import agent_lines

_RECENT = 3
_PREVIEW = 200


def of_messages(shown: list[Any]) -> dict[str, Any]:
    said = [each if isinstance(each, dict) else {"content": each} for each in shown]
    roles: dict[str, int] = {}
    for each in said:
        role = str(each.get("role", "?"))
        roles[role] = roles.get(role, 0) + 1
    recent = [
        {"role": each.get("role"), "preview": _preview(each.get("content"))}
        for each in said[-_RECENT:]
    ]
    return {"count": len(said), "roles": roles, "recent": recent}


def of_context(size: int, limit: int | None, summary: str | None) -> dict[str, Any]:
    """`size` is that of all messages, in characters."""
    return {
        "tokenEstimate": size // 4,  # four characters a token is what English text comes to
        "maxTokens": limit,
        "hasSummary": summary is not None,
        "summaryPreview": None if summary is None else _preview(summary),
    }


def of_variables(found: Any) -> dict[str, Any]:
    given = found if isinstance(found, Mapping) else getattr(found, "__dict__", {})
    return {str(name): value for name, value in list(given.items())}


def _preview(content: Any) -> str:
    return (content if isinstance(content, str) else agent_lines.encode_json(content))[:_PREVIEW]
