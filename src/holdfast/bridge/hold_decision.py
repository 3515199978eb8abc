"""The decision that ends a hold of the bridge, and what each action needs."""

from __future__ import annotations

import builtins
import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from holdfast.model import agent_commands

Options = Mapping[str, Any]
"""The fields of a command or a decision."""


@dataclass(frozen=True)
class HoldDecision:
    """`data` are the fields of the action."""

    action: str = "continue"
    by: str = "command"
    data: Options = field(default_factory=dict)

    @property
    def fields(self) -> Options:
        """As events have it."""
        return {"action": self.action, "by": self.by, **self.data}


def infer_action(data: Options) -> str:
    """What is meant when only the change is given."""
    for name, action in (("input", "modify"), ("messages", "modify"), ("result", "skip")):
        if name in data:
            return action
    return "raise" if "exception_type" in data else "continue"


def check_fields(action: str, data: Options) -> Options:
    """The fields that belong to an action; ValueError if one is missing or wrong."""
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
            message = str(data.get("exception_message", ""))
            return {"exception_type": kind, "exception_message": message}
        case "inject":
            role, content = data.get("role", "user"), data.get("content")
            check_message(role, content)
            return {"role": role, "content": content}
        case _:
            return {}


def check_messages(data: Options) -> None:
    """Of a model call that is to be made with others."""
    given = data.get("input")
    messages = given.get("messages", []) if isinstance(given, dict) else data.get("messages", [])
    if not isinstance(messages, list) or not all(isinstance(item, dict) for item in messages):
        raise ValueError('messages is a list of objects: [{"role": "user", "content": "…"}]')


def check_message(role: Any, content: Any) -> None:
    if role not in agent_commands.ROLES:
        raise ValueError(f"role is one of {', '.join(agent_commands.ROLES)}, not {role!r:.100}")
    if not isinstance(content, (str, list)) or not content:
        raise ValueError("content is the text of a message")


def build_error(data: Options) -> BaseException:
    """An exception by its name: a builtin's, or a dotted path's."""
    name, text = str(data.get("exception_type", "RuntimeError")), data.get("exception_message", "")
    module, _, last = name.rpartition(".")
    try:
        kind = getattr(importlib.import_module(module) if module else builtins, last)
        if isinstance(kind, type) and issubclass(kind, Exception):
            return kind(text)
    except Exception:  # importing a module, or building its exception, may do anything
        pass
    return RuntimeError(f"{name}: {text}")
