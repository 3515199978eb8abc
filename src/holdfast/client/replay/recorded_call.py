"""The recorded call, found in the current code and made."""

from __future__ import annotations

import ast
import asyncio
import functools
import inspect
import types
from collections.abc import Callable
from typing import Any

from holdfast.client import operators
from holdfast.client.outcome import exception_name
from holdfast.client.replay import differences
from holdfast.client.replay.differences import Difference
from holdfast.client.replay.value_restorer import CannotReplay, Restorer
from holdfast.client.value_preview import preview_text

Json = dict[str, Any]
_ROUTINES = (types.FunctionType, types.BuiltinFunctionType, types.MethodType)


class Values:
    """What the call was given. A copy of its own: calls change their values."""

    def __init__(self, call: Json, restorer: Restorer) -> None:
        names = parameter_names(call)
        names += [f"argument {at + 1}" for at in range(len(names), len(call["args"]))]
        given = zip(call["args"], names, strict=False)
        self.args = [restorer.value(item["cid"], name) for item, name in given]
        self.kwargs = {
            name: restorer.value(item["cid"], name) for name, item in call["kwargs"].items()
        }
        if call.get("target_cid") is None:
            raise CannotReplay("what was called is not recorded")
        self.target = restorer.value(call["target_cid"], "what was called")


def parameter_names(call: Json) -> list[str]:
    """What the positional arguments are called, as far as the signature says so."""
    try:
        tree: Any = ast.parse(f"def f{call.get('signature')}: ...")
    except (SyntaxError, ValueError):  # a default whose repr is no source
        return []
    return [each.arg for each in (*tree.body[0].args.posonlyargs, *tree.body[0].args.args)]


def refuse(call: Json) -> None:
    """Some records are of calls whose outcome is not the function's own."""
    if call["status"] in ("running", "lost"):
        raise CannotReplay(f"it has no recorded outcome: the call is {call['status']}")
    decision = call.get("decision") or {}
    action = decision.get("action")
    if action not in (None, "continue") and decision.get("when", "before") == "before":
        by = decision.get("by") or "a breakpoint"
        raise CannotReplay(f"its outcome was decided ({action}, by {by}), not made by the function")
    if call.get("marker"):
        raise CannotReplay(f"{_a(call['marker'])} was its result, which cannot be repeated")
    if call["method_name"] == "__await__":
        raise CannotReplay("an awaitable can be awaited once only")


def _a(marker: str) -> str:
    words = marker.replace("_", " ")
    if marker in ("too_large", "unpicklable"):
        return f"a value that was not stored ({words})"
    return f"{'an' if words[0] in 'aeiou' else 'a'} {words}"


class Way:
    """How the target is called: itself, one of its methods, or with an operator."""

    def __init__(self, call: Json, target: Any) -> None:
        self.name: str = call["method_name"]
        self.target = target
        if _is_itself(call, target):
            self.kind = "itself"
        elif self.name in operators.BINARY or self.name in operators.INPLACE:
            self.kind = "operator"
        else:
            self.kind = "method"

    def function(self, target: Any) -> Callable[..., Any]:
        if self.kind == "itself":
            return target  # type: ignore[no-any-return]
        if self.kind == "operator":
            operate = operators.BINARY.get(self.name) or operators.INPLACE[self.name]
            return functools.partial(operate, target)
        owner = type(target) if self._is_special() else target
        found = inspect.getattr_static(owner, self.name, None) if owner is not target else 1
        if found is None or not hasattr(owner, self.name):
            named = target if hasattr(target, "__qualname__") else type(target)
            raise CannotReplay(f"{describe(named)} has no {self.name} now")
        function = getattr(owner, self.name)
        return functools.partial(function, target) if owner is not target else function

    def _is_special(self) -> bool:
        return self.name.startswith("__") and self.name.endswith("__")

    def full_name(self) -> str:
        if self.kind == "itself":
            target = self.target
            return describe(target) if hasattr(target, "__qualname__") else describe(type(target))
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


def _is_itself(call: Json, target: Any) -> bool:
    if call["call_type"] == "inline":
        return True
    name = call["method_name"]
    if isinstance(target, (*_ROUTINES, type)):
        own = getattr(target, "__qualname__", None)
        return call.get("qualname") in (None, own) and name in (call["alias"], target.__name__)
    return name == "__call__" or (name == call["alias"] and callable(target))


def require_current(way: Way, restorer: Restorer) -> None:
    """The code must be the program's, not a copy of what it was."""
    target = getattr(way.target, "__self__", way.target)
    owners = [way.target, getattr(way.target, "__func__", None), type(target)]
    for owner in owners:
        if restorer.is_as_recorded(owner):
            why = "it is made while the program runs" if "<" in owner.__qualname__ else "it is gone"
            raise CannotReplay(f"the current code of {describe(owner)} cannot be found: {why}")


class Outcome:
    """How the call ended, this time or when it was recorded."""

    def __init__(self, value: Any = None, error: BaseException | None = None) -> None:
        self.value = value
        self.error = error
        self.awaited = False

    def text(self) -> str:
        if self.error is None:
            return preview_text(self.value)
        return f"raises {exception_name(self.error)}: {self.error}".rstrip(": ")


def make(function: Callable[..., Any], values: Values) -> Outcome:
    """Call it; what is to be awaited is."""
    outcome = Outcome()
    try:
        outcome.value = function(*values.args, **values.kwargs)
        if inspect.isawaitable(outcome.value):
            outcome.awaited = True
            outcome.value = asyncio.run(_awaited(outcome.value))
    except BaseException as error:  # whatever the call raises is its outcome
        outcome.value, outcome.error = None, error
    return outcome


async def _awaited(value: Any) -> Any:
    return await value


class Recorded:
    """The recorded outcome, and what the call left of its values."""

    def __init__(self, call: Json, restorer: Restorer) -> None:
        self.call = call
        self.outcome: Outcome | None = None
        if call["status"] == "success":
            value = None
            if call["result_cid"] is not None:
                value = restorer.value(call["result_cid"], "its result")
            self.outcome = Outcome(value)
        elif call.get("exception_cid"):
            try:
                error = restorer.value(call["exception_cid"], "its exception")
            except CannotReplay:
                error = None  # its name and message are known all the same
            if isinstance(error, BaseException):
                self.outcome = Outcome(error=error)
        self.after = Values(_after(call), restorer)

    def text(self) -> str:
        if self.outcome is not None:
            return self.outcome.text()
        return f"raises {self.call['exception_type']}: {self.call['exception_message']}"


def _after(call: Json) -> Json:
    """The call with the values that it left."""
    changed = call.get("changed") or {}
    args = [(changed.get("args") or {}).get(str(at), item) for at, item in enumerate(call["args"])]
    kwargs = {**call["kwargs"], **(changed.get("kwargs") or {})}
    target = changed.get("target")
    cid = target["cid"] if target else call.get("target_cid")
    return {**call, "args": args, "kwargs": kwargs, "target_cid": cid}


def compare(
    recorded: Recorded, outcome: Outcome, values: Values, way: Way, main: str | None
) -> list[tuple[str, Difference]]:
    """Every difference with what it is of: the result, the exception, an argument, the target."""
    found = [(where, each) for where, each in _outcomes(recorded, outcome, main)]
    for at, (left, right) in enumerate(zip(recorded.after.args, values.args, strict=True)):
        found += [(f"args[{at}] afterwards", each) for each in differences.between(left, right)]
    for name, left in recorded.after.kwargs.items():
        between = differences.between(left, values.kwargs[name])
        found += [(f"{name} afterwards", each) for each in between]
    left, right = (
        getattr(each, "__self__", each) for each in (recorded.after.target, values.target)
    )
    if not isinstance(right, (*_ROUTINES, type, types.ModuleType)):
        found += [("target afterwards", each) for each in differences.between(left, right)]
    return found


def _outcomes(
    recorded: Recorded, outcome: Outcome, main: str | None
) -> list[tuple[str, Difference]]:
    call = recorded.call
    if call["status"] == "success":
        assert recorded.outcome is not None
        if outcome.error is not None:
            return [("result", Difference("", recorded.text(), outcome.text()))]
        between = differences.between(recorded.outcome.value, outcome.value)
        return [("result", each) for each in between]
    if outcome.error is None:
        return [("exception", Difference("", recorded.text(), f"returns {outcome.text()}"))]
    named = _as_recorded(exception_name(outcome.error), main)
    if (named, _message(outcome.error)) != (call["exception_type"], call["exception_message"]):
        return [("exception", Difference("", recorded.text(), outcome.text()))]
    return []


def _as_recorded(name: str, main: str | None) -> str:
    """What is in the script's module now was in `__main__`."""
    return f"__main__{name[len(main) :]}" if main and name.startswith(f"{main}.") else name


def _message(error: BaseException) -> str:
    try:
        return str(error)[:10_000]
    except Exception:  # the exception's own `__str__`
        return ""
