"""Which places each parameter of a call was computed from.

A frame that begins does not tell which expression called it. The calls of the caller's statement
are compared with the code that begins: first by what is called, then by its name.
"""

from __future__ import annotations

import types
from typing import Any, Dict, List, Optional, Sequence, Tuple

from .frame_names import UNKNOWN, FrameNames
from .place_facts import CallFact, PlaceFact
from .place_lookup import find_member, list_method
from .run_events import CodePlan

Arguments = Dict[str, Optional[Tuple[PlaceFact, ...]]]
"""By parameter: what its argument reads; None for a default."""
_CREATION = ("__init__", "__new__", "__post_init__")


class FoundCall:
    """The call in a statement that code was called by."""

    __slots__ = ("call", "is_bound")

    def __init__(self, call: CallFact, is_bound: bool) -> None:
        self.call = call
        self.is_bound = is_bound
        """Whether the first parameter is not among the arguments."""


def find_call(
    calls: Sequence[CallFact], plan: CodePlan, names: FrameNames, nth: int
) -> Optional[FoundCall]:
    """The nth call of this code in a statement, or None if nothing tells which it is."""
    found = [each for each in (_match(call, plan, names) for call in calls) if each is not None]
    if not found:
        found = [each for each in (_match_name(call, plan) for call in calls) if each is not None]
    return found[min(nth, len(found) - 1)] if found else None


def _match(call: CallFact, plan: CodePlan, names: FrameNames) -> Optional[FoundCall]:
    """Compare by what is called."""
    callee = call.callee(names)
    code = plan.code
    if callee is UNKNOWN:
        return None
    if issubclass(type(callee), type):
        return FoundCall(call, True) if _creates_with(callee, code) else None
    if type(callee) is types.MethodType:
        return FoundCall(call, True) if _code_of(callee.__func__) is code else None
    if type(callee) is types.FunctionType:
        if _code_of(callee) is not code:
            return None
        return FoundCall(call, _is_bound(call, names))
    method = find_member(type(callee), "__call__")[1]
    return FoundCall(call, True) if _code_of(method) is code else None


def _creates_with(cls: Any, code: Any) -> bool:
    for name in _CREATION:
        if _code_of(find_member(cls, name)[1]) is code:
            return True
    return False


def _is_bound(call: CallFact, names: FrameNames) -> bool:
    """Whether a function that was found as an attribute gets the object as its first argument."""
    subject = UNKNOWN if call.subject is None else call.subject(names)
    if subject is UNKNOWN or type(subject) is types.ModuleType:
        return False
    member = list_method(subject, call.name)
    if type(member) is classmethod:
        return True
    return type(member) is types.FunctionType and not issubclass(type(subject), type)


def _code_of(function: Any) -> Any:
    if type(function) is staticmethod or type(function) is classmethod:
        function = function.__func__
    return function.__code__ if type(function) is types.FunctionType else None


def _match_name(call: CallFact, plan: CodePlan) -> Optional[FoundCall]:
    """Compare by name; the called expression is itself a call, say, or the function is wrapped."""
    name = plan.code.co_name
    outer = plan.scope.outer
    is_method = (
        outer is not None
        and outer.definition is not None
        and (
            outer.definition.kind == "class"
            and bool(plan.params)
            and plan.params[0] in ("self", "cls")
        )
    )
    if call.name == name:
        return FoundCall(call, is_method and call.subject is not None)
    if name in _CREATION and is_method and outer is not None and call.name == outer.name:
        return FoundCall(call, True)
    return None


def match_arguments(found: FoundCall, plan: CodePlan) -> Arguments:
    """What the argument for each parameter reads."""
    call, params = found.call, plan.params
    if call.args is None:  # `*args`: any parameter may come from any of them
        places: Arguments = dict.fromkeys(params, call.every)
        if found.is_bound and params:
            places[params[0]] = call.receiver
        return places
    matched: Arguments = {}
    given: List[Tuple[PlaceFact, ...]] = list(call.args)
    if found.is_bound and params:
        given.insert(0, call.receiver)
    code = plan.code
    positional = params[: code.co_argcount]
    for name, reads in zip(positional, given):
        matched[name] = reads
    named = params[: code.co_argcount + code.co_kwonlyargcount]
    rest = list(params[len(named) :])
    if code.co_flags & 4 and rest:
        matched[rest.pop(0)] = _join(given[code.co_argcount :])
    extra = []
    for keyword, reads in call.keywords.items():
        if keyword in named:
            matched[keyword] = reads
        else:
            extra.append(reads)
    if rest:
        matched[rest[0]] = _join(extra)
    for name in named:
        matched.setdefault(name, None)
    return matched


def _join(parts: Sequence[Tuple[PlaceFact, ...]]) -> Tuple[PlaceFact, ...]:
    return tuple(fact for part in parts for fact in part)
