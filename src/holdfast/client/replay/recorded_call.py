"""Finds the recorded call in the current code and makes it."""

from __future__ import annotations

import ast
import asyncio
import functools
import inspect
import types
from collections.abc import Callable
from typing import Any

from holdfast.client import operators
from holdfast.client.outcome import exception_message, exception_name
from holdfast.client.replay.differences import Difference, find_differences
from holdfast.client.replay.replay_messages import CallRecord
from holdfast.client.replay.value_restorer import CannotReplay, Restorer
from holdfast.client.value_preview import preview_text

_ROUTINES = (types.FunctionType, types.BuiltinFunctionType, types.MethodType)


class CallValues:
    """The target and the arguments; a copy of its own, because calls change their values."""

    def __init__(self, call: CallRecord, restorer: Restorer) -> None:
        names = parameter_names(call)
        names += [f"argument {at + 1}" for at in range(len(names), len(call["args"]))]
        self.args = [
            restorer.value(item["cid"], name)
            for item, name in zip(call["args"], names, strict=False)
        ]
        self.kwargs = {
            name: restorer.value(item["cid"], name) for name, item in call["kwargs"].items()
        }
        target_cid = call.get("target_cid")
        if target_cid is None:
            raise CannotReplay("what was called is not recorded")
        self.target = restorer.value(target_cid, "what was called")


def parameter_names(call: CallRecord) -> list[str]:
    """The names of the positional parameters; none if the signature cannot be parsed."""
    try:
        tree: Any = ast.parse(f"def f{call.get('signature')}: ...")
    except (SyntaxError, ValueError):  # a default whose repr is no source
        return []
    parameters = tree.body[0].args
    return [parameter.arg for parameter in (*parameters.posonlyargs, *parameters.args)]


def require_replayable(call: CallRecord) -> None:
    """Refuse a call whose recorded outcome is not the function's own."""
    if call["status"] in ("running", "lost"):
        raise CannotReplay(f"it has no recorded outcome: the call is {call['status']}")
    decision = call.get("decision") or {}
    action = decision.get("action")
    if action not in (None, "continue") and decision.get("when", "before") == "before":
        by = decision.get("by") or "a breakpoint"
        raise CannotReplay(f"its outcome was decided ({action}, by {by}), not made by the function")
    if marker := call.get("marker"):
        raise CannotReplay(f"{_describe_marker(marker)} was its result, which cannot be repeated")
    if call.get("target_age_ms") is not None:
        raise CannotReplay(
            f"its object was last compared {call['target_age_ms']:.0f} ms before the call, because "
            'that takes long; capture_target="always" compares it for every call'
        )
    if call["method_name"] == "__await__":
        raise CannotReplay("an awaitable can be awaited once only")


def _describe_marker(marker: str) -> str:
    words = marker.replace("_", " ")
    if marker in ("too_large", "unpicklable"):
        return f"a value that was not stored ({words})"
    return f"{'an' if words[0] in 'aeiou' else 'a'} {words}"


class CallForm:
    """How the target is called: itself, one of its methods, or with an operator."""

    def __init__(self, call: CallRecord, target: Any) -> None:
        self.name: str = call["method_name"]
        self.target = target
        if _is_itself(call, target):
            self.kind = "itself"
        elif self.name in operators.BINARY or self.name in operators.INPLACE:
            self.kind = "operator"
        else:
            self.kind = "method"

    def find_function(self, target: Any) -> Callable[..., Any]:
        if self.kind == "itself":
            return target  # type: ignore[no-any-return]
        if self.kind == "operator":
            operate = operators.BINARY.get(self.name) or operators.INPLACE[self.name]
            return functools.partial(operate, target)
        owner = type(target) if self.is_special() else target
        is_there = owner is target or inspect.getattr_static(owner, self.name, None) is not None
        if not is_there or not hasattr(owner, self.name):
            raise CannotReplay(f"{_describe_definition(target)} has no {self.name} now")
        function = getattr(owner, self.name)
        return functools.partial(function, target) if owner is not target else function

    def is_special(self) -> bool:
        return self.name.startswith("__") and self.name.endswith("__")

    def full_name(self) -> str:
        if self.kind == "itself":
            return _describe_definition(self.target)
        if isinstance(self.target, types.ModuleType):
            return f"{self.target.__name__}.{self.name}"
        owner = self.target if isinstance(self.target, type) else type(self.target)
        return f"{describe(owner)}.{self.name}"


def describe(thing: Any) -> str:
    name = getattr(thing, "__qualname__", None)
    if not isinstance(name, str):
        return f"a {type(thing).__name__}"
    module = getattr(thing, "__module__", None)
    return name if module in (None, "builtins") else f"{module}.{name}"


def _describe_definition(target: Any) -> str:
    return describe(target if hasattr(target, "__qualname__") else type(target))


def _is_itself(call: CallRecord, target: Any) -> bool:
    if call["call_type"] == "inline":
        return True
    name = call["method_name"]
    if isinstance(target, (*_ROUTINES, type)):
        qualname = getattr(target, "__qualname__", None)
        is_same = call.get("qualname") in (None, qualname)
        return is_same and name in (call["alias"], target.__name__)
    return name == "__call__" or (name == call["alias"] and callable(target))


def require_current(form: CallForm, restorer: Restorer) -> None:
    """Refuse a copy of the recorded code: the call needs the program's current code."""
    target = getattr(form.target, "__self__", form.target)
    owner: Any
    for owner in (form.target, getattr(form.target, "__func__", None), type(target)):
        if restorer.is_as_recorded(owner):
            why = "it is made while the program runs" if "<" in owner.__qualname__ else "it is gone"
            raise CannotReplay(f"the current code of {describe(owner)} cannot be found: {why}")


class ReplayOutcome:
    """How the call ended, this time or when it was recorded."""

    def __init__(self, value: Any = None, error: BaseException | None = None) -> None:
        self.value = value
        self.error = error
        self.was_awaited = False

    def text(self) -> str:
        if self.error is None:
            return preview_text(self.value)
        return f"raises {exception_name(self.error)}: {self.error}".rstrip(": ")


def make_call(function: Callable[..., Any], values: CallValues) -> ReplayOutcome:
    """Call it, and await what is to be awaited."""
    outcome = ReplayOutcome()
    try:
        outcome.value = function(*values.args, **values.kwargs)
        if inspect.isawaitable(outcome.value):
            outcome.was_awaited = True
            outcome.value = asyncio.run(_await(outcome.value))
    except BaseException as error:  # the outcome is whatever the application raises
        outcome.value, outcome.error = None, error
    return outcome


async def _await(value: Any) -> Any:
    return await value


class RecordedOutcome:
    """The recorded outcome, and the values as the call left them."""

    def __init__(self, call: CallRecord, restorer: Restorer) -> None:
        self.call = call
        self.outcome: ReplayOutcome | None = None
        if call["status"] == "success":
            value = None
            if call["result_cid"] is not None:
                value = restorer.value(call["result_cid"], "its result")
            self.outcome = ReplayOutcome(value)
        elif exception_cid := call.get("exception_cid"):
            try:
                error = restorer.value(exception_cid, "its exception")
            except CannotReplay:
                error = None  # its name and message are enough
            if isinstance(error, BaseException):
                self.outcome = ReplayOutcome(error=error)
        self.after = CallValues(_replace_changed(call), restorer)

    def text(self) -> str:
        if self.outcome is not None:
            return self.outcome.text()
        return f"raises {self.call['exception_type']}: {self.call['exception_message']}"


def _replace_changed(call: CallRecord) -> CallRecord:
    """The record with the values that the call left."""
    changed = call.get("changed") or {}
    args = [(changed.get("args") or {}).get(str(at), item) for at, item in enumerate(call["args"])]
    kwargs = {**call["kwargs"], **(changed.get("kwargs") or {})}
    target = changed.get("target")
    cid = target["cid"] if target else call.get("target_cid")
    return {**call, "args": args, "kwargs": kwargs, "target_cid": cid}


def compare(
    recorded: RecordedOutcome, outcome: ReplayOutcome, values: CallValues, main: str | None
) -> list[tuple[str, Difference]]:
    """The differences, each with what differs: result, exception, an argument, or the target."""
    after = recorded.after
    differences = _compare_outcomes(recorded, outcome, main)
    pairs = [
        (f"args[{at}] afterwards", expected, actual)
        for at, (expected, actual) in enumerate(zip(after.args, values.args, strict=True))
    ]
    pairs += [
        (f"{name} afterwards", expected, values.kwargs[name])
        for name, expected in after.kwargs.items()
    ]
    expected, actual = (getattr(t, "__self__", t) for t in (after.target, values.target))
    if not isinstance(actual, (*_ROUTINES, type, types.ModuleType)):
        pairs.append(("target afterwards", expected, actual))
    for what, expected, actual in pairs:
        differences += [(what, part) for part in find_differences(expected, actual)]
    return differences


def _compare_outcomes(
    recorded: RecordedOutcome, outcome: ReplayOutcome, main: str | None
) -> list[tuple[str, Difference]]:
    call = recorded.call
    if call["status"] == "success":
        assert recorded.outcome is not None
        if outcome.error is not None:
            return [("result", Difference("", recorded.text(), outcome.text()))]
        differences = find_differences(recorded.outcome.value, outcome.value)
        return [("result", difference) for difference in differences]
    if outcome.error is None:
        return [("exception", Difference("", recorded.text(), f"returns {outcome.text()}"))]
    name = _name_as_recorded(exception_name(outcome.error), main)
    ended = (name, exception_message(outcome.error))
    if ended != (call["exception_type"], call["exception_message"]):
        return [("exception", Difference("", recorded.text(), outcome.text()))]
    return []


def _name_as_recorded(name: str, main: str | None) -> str:
    """What is in the script's module now was recorded in `__main__`."""
    return f"__main__{name[len(main) :]}" if main and name.startswith(f"{main}.") else name
