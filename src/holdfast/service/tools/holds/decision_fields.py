"""Turns the fields of `hold_decide` into those of the action at the hold that it decides.

A client of the tools has one small set of fields for every kind of hold. The table of decisions in
`model.decision` has the fields that targets take.
"""

from __future__ import annotations

import re
from typing import Any

from msgspec import UNSET

from holdfast.errors import InvalidDecision
from holdfast.model.decision import AGENT_MOMENTS, Moment
from holdfast.model.hold import Hold
from holdfast.wire.hold_reports import FIELDS_OF, join_fields
from holdfast.wire.tool_requests import DecideHold

_POSITION = re.compile(r"args\[(\d{1,3})\]")
_OF_MODEL = ("messages", "system")


def build_fields(hold: Hold, request: DecideHold) -> dict[str, Any]:
    """The action's own fields. Raises if one is given that it does not take, or none is."""
    _refuse_others(hold, request)
    match request.action:
        case "skip":
            return {"fake_result": _build_value(request)}
        case "raise":
            return _build_exception(request)
        case "modify":
            return _build_arguments(hold, request)
        case "replace":
            _require(request, "function", request.function)
            return {"function_name": request.function}
        case "inject":
            _require(request, "message", request.message)
            return {"content": request.message, "role": request.role or "user"}
    return {}


def _list_given(request: DecideHold) -> list[str]:
    names = dict.fromkeys(name for names in FIELDS_OF.values() for name in names)
    return [name for name in names if getattr(request, name) not in (None, UNSET, {})]


def _refuse_others(hold: Hold, request: DecideHold) -> None:
    takes = FIELDS_OF.get(request.action, ())
    for name in _list_given(request):
        if name not in takes:
            takers = [one for one in hold.actions if name in FIELDS_OF.get(one, ())] or ["none"]
            raise InvalidDecision(
                f"{name}: {request.action} does not take it",
                hint=f"{_describe(request.action)} Here {name} is for {', '.join(takers)}.",
                field=name,
                valid=list(takes),
                possible=list(hold.actions),
            )


def _describe(action: str) -> str:
    return f"{action} takes {join_fields(action)}."


def _require(request: DecideHold, name: str, value: object) -> None:
    if not value:
        raise InvalidDecision(
            f"{name}: {request.action} needs it",
            hint=_describe(request.action),
            field=name,
            valid=list(FIELDS_OF[request.action]),
        )


def _build_value(request: DecideHold) -> dict[str, Any]:
    if (request.value is UNSET) == (request.literal is None):
        raise InvalidDecision(
            "value: skip needs one result",
            hint="Give `value` (JSON) or `literal` (a Python literal, as text).",
            field="value",
            valid=list(FIELDS_OF["skip"]),
        )
    if request.literal is not None:
        return {"literal": request.literal}
    return {"value": request.value}


def _build_exception(request: DecideHold) -> dict[str, Any]:
    _require(request, "exception", request.exception)
    return {
        "exception_type": request.exception,
        "exception_message": request.message or "",
    }


def _build_arguments(hold: Hold, request: DecideHold) -> dict[str, Any]:
    if not (request.args or request.literals):
        _require(request, "args", None)
    if hold.moment in AGENT_MOMENTS:
        return _build_input(hold, request)
    values: dict[str, Any] = {name: {"value": value} for name, value in request.args.items()}
    values |= {name: {"literal": text} for name, text in request.literals.items()}
    places = {name: found for name in values if (found := _POSITION.fullmatch(name))}
    positional: list[Any] = []
    for name, found in places.items():
        at = int(found[1])
        positional += [None] * (at + 1 - len(positional))
        positional[at] = values.pop(name)
    fields: dict[str, Any] = {"modified_args": positional} if positional else {}
    return fields | ({"modified_kwargs": values} if values else {})


def _build_input(hold: Hold, request: DecideHold) -> dict[str, Any]:
    if request.literals:
        raise InvalidDecision(
            "literals: what an agent gets is JSON",
            hint="Give the arguments in `args`.",
            field="literals",
            valid=["args"],
        )
    changes = dict(request.args)
    if hold.moment is not Moment.MODEL:
        return {"input": changes}
    fields = {name: changes.pop(name) for name in _OF_MODEL if name in changes}
    if "messages" in fields and changes:
        changes["messages"] = fields.pop("messages")
    return fields | ({"input": changes} if changes else {})
