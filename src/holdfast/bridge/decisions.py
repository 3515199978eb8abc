"""Decisions: how a hold may be ended, and what each way of it needs."""

from __future__ import annotations

import builtins
import importlib
from dataclasses import dataclass, field
from typing import Any

from holdfast.model import agent_commands


@dataclass(frozen=True)
class Decision:
    action: str = "continue"
    by: str = "command"
    data: dict[str, Any] = field(default_factory=dict)

    def shown(self) -> dict[str, Any]:
        return {"action": self.action, "by": self.by, **self.data}


def action_of(data: dict[str, Any]) -> str:
    """What is meant when only the change is given."""
    for name, action in (("input", "modify"), ("messages", "modify"), ("result", "skip")):
        if name in data:
            return action
    return "raise" if "exception_type" in data else "continue"


def checked(action: str, data: dict[str, Any]) -> dict[str, Any]:
    """The part of a decision that belongs to its action."""
    match action:
        case "modify":
            if "messages" in data and "input" not in data:
                data = {"input": {"messages": data["messages"]}}
            if not isinstance(data.get("input"), dict):
                raise ValueError("modify takes an input, which is an object")
            return {"input": data["input"]}
        case "skip":
            if "result" not in data:
                raise ValueError("skip takes the result to give instead")
            return {"result": data["result"]}
        case "raise":
            kind = data.get("exception_type", "RuntimeError")
            if not isinstance(kind, str):
                raise ValueError("exception_type is the name of an exception")
            return {
                "exception_type": kind,
                "exception_message": str(data.get("exception_message", "")),
            }
        case "inject":
            role, content = data.get("role", "user"), data.get("content")
            check_message(role, content)
            return {"role": role, "content": content}
        case _:
            return {}


def check_messages(data: dict[str, Any]) -> None:
    """Of a model call that is to be made with others."""
    given = data.get("input")
    messages = given.get("messages", []) if isinstance(given, dict) else data.get("messages", [])
    is_right = isinstance(messages, list) and all(isinstance(each, dict) for each in messages)
    if not is_right:
        raise ValueError('messages is a list of objects: [{"role": "user", "content": "…"}]')


def check_message(role: Any, content: Any) -> None:
    if role not in agent_commands.ROLES:
        raise ValueError(f"role is one of {', '.join(agent_commands.ROLES)}, not {role!r:.100}")
    if not isinstance(content, (str, list)) or not content:
        raise ValueError("content is the text of a message")


def made_error(data: dict[str, Any]) -> BaseException:
    """An exception by its name: a builtin's, or a dotted path's."""
    name, said = str(data.get("exception_type", "RuntimeError")), data.get("exception_message", "")
    module, _, last = name.rpartition(".")
    try:
        found = getattr(importlib.import_module(module) if module else builtins, last)
        if isinstance(found, type) and issubclass(found, Exception):
            return found(said)
    except Exception:  # importing, or making it, may do anything
        pass
    return RuntimeError(f"{name}: {said}")
