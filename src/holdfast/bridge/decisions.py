"""Decisions: how a hold may be ended, and what each way of it needs."""

from __future__ import annotations

import builtins
import importlib
from dataclasses import dataclass, field
from typing import Any

from holdfast.core.decision_check import check_fields
from holdfast.model.decision import Moment


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


def check_decision(at: str, action: str, data: dict[str, Any]) -> dict[str, Any]:
    """The fields of an action, checked against the table of decisions."""
    fields = check_fields(Moment(at), action, data)
    messages = fields.pop("messages", None)
    if messages is not None:
        fields.setdefault("input", {"messages": messages})
    return fields


def check_messages(data: dict[str, Any]) -> None:
    """Of a model call that is to be made with others."""
    given = data.get("input")
    messages = given.get("messages", []) if isinstance(given, dict) else data.get("messages", [])
    is_right = isinstance(messages, list) and all(isinstance(each, dict) for each in messages)
    if not is_right:
        raise ValueError('messages is a list of objects: [{"role": "user", "content": "…"}]')


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
