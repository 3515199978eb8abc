"""The decision that ends a hold of the bridge."""

from __future__ import annotations

import builtins
import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from holdfast.core import decision_check
from holdfast.model.decision import Moment

_CHANGES = ("input", "input_text", "messages", "messages_text", "system")
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
    if any(name in data for name in _CHANGES):
        return "modify"
    if "result" in data:
        return "skip"
    return "raise" if "exception_type" in data else "continue"


def check_fields(moment: Moment, action: str, data: Options) -> Options:
    """The fields that belong to an action; InvalidInput if one is missing or wrong."""
    fields = decision_check.check_fields(moment, action, data)
    if action == "modify":
        given = dict(fields.get("input") or {})
        if "messages" in fields and "input" not in fields:
            given["messages"] = fields["messages"]
        if moment is Moment.MODEL:
            _check_messages(given.get("messages", []))
        fields = {"input": given, **({"system": fields["system"]} if "system" in fields else {})}
    return fields


def _check_messages(messages: Any) -> None:
    if not isinstance(messages, list) or not all(isinstance(item, dict) for item in messages):
        raise ValueError('messages is a list of objects: [{"role": "user", "content": "…"}]')


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
