"""What a decision does to the call that it is about.

Nothing here changes the application: a decision can be tried, and be carried out later.
`DecisionRefused` says what is wrong with one that cannot be carried out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from holdfast.client.argument_changes import change_arguments
from holdfast.client.exception_builder import Built, build_exception, find_exception_class
from holdfast.client.exceptions import DebugProtocolError
from holdfast.client.invocation import Invocation
from holdfast.client.outcome import Outcome
from holdfast.client.recorder import Answer, Recorder


class Plan:
    """What is to be done: a call, or an outcome without one. `note` is for whoever decided."""

    __slots__ = ("note", "step")

    def __init__(self, step: Invocation | Outcome, note: str | None = None) -> None:
        self.step = step
        self.note = note


def plan_before(recorder: Recorder, decision: Answer, invocation: Invocation) -> Plan:
    """The call to make; or the outcome, if none is to be made."""
    match decision.get("action"):
        case "continue":
            return Plan(invocation)
        case "modify":
            return Plan(_modify(recorder, decision, invocation))
        case "replace":
            function = _find_replacement(recorder, decision, invocation)
            return Plan(invocation.change(function, invocation.args, invocation.kwargs))
    return _plan_outcome(recorder, decision, invocation)


def plan_after(
    recorder: Recorder, decision: Answer, outcome: Outcome, invocation: Invocation
) -> Plan:
    """How the call ends."""
    if decision.get("action") == "continue":
        return Plan(outcome)
    return _plan_outcome(recorder, decision, invocation)


def _plan_outcome(recorder: Recorder, decision: Answer, invocation: Invocation) -> Plan:
    match decision.get("action"):
        case "skip":
            return Plan(Outcome(_load_fake_result(recorder, decision)))
        case "raise":
            error, note = _build_exception(recorder, decision, invocation)
            return Plan(Outcome(error=error), note)
    raise DebugProtocolError(f"the server wants an unknown action: {decision.get('action')!r}")


def _modify(recorder: Recorder, decision: Answer, invocation: Invocation) -> Invocation:
    positional = decision.get("modified_args") or []
    named = decision.get("modified_kwargs") or {}
    if not isinstance(positional, list) or not isinstance(named, dict):
        raise DebugProtocolError("modified_args must be a list, and modified_kwargs an object")
    args, kwargs = change_arguments(invocation, positional, named, recorder.load)
    return invocation.change(invocation.function, args, kwargs)


def _find_replacement(
    recorder: Recorder, decision: Answer, invocation: Invocation
) -> Callable[..., Any]:
    name = decision.get("function_name")
    if not isinstance(name, str) or not name:
        raise DebugProtocolError("a replace action names no function")
    function: Callable[..., Any] = recorder.functions.find_replacement(
        name, invocation.function, invocation.args, invocation.kwargs
    )
    return function


def _load_fake_result(recorder: Recorder, decision: Answer) -> Any:
    cid, data = decision.get("fake_result_cid"), decision.get("fake_result_data")
    if cid is None and data is None:
        return None  # the default, as it is for a function
    return recorder.load({"cid": cid, "data": data})


def _build_exception(recorder: Recorder, decision: Answer, invocation: Invocation) -> Built:
    cid, data = decision.get("exception_cid"), decision.get("exception_data")
    if cid is not None or data is not None:
        stored = recorder.load({"cid": cid, "data": data})
        if isinstance(stored, BaseException):
            return stored, None
        raise DebugProtocolError(f"the exception to raise is a {type(stored).__name__}")
    name = decision.get("exception_type")
    if not isinstance(name, str) or not name:
        raise DebugProtocolError("a raise action names no exception_type")
    args, kwargs = decision.get("exception_args"), decision.get("exception_kwargs")
    return build_exception(
        find_exception_class(name, invocation),
        str(decision.get("exception_message") or ""),
        None if args is None else [recorder.load(item) for item in args],
        None if kwargs is None else {key: recorder.load(item) for key, item in kwargs.items()},
    )
