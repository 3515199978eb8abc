"""What a decision does to the call that it is about."""

from __future__ import annotations

import builtins
import importlib
import sys
from collections.abc import Callable
from typing import Any

from holdfast.client.exceptions import DebugProtocolError
from holdfast.client.function_registry import signature_of
from holdfast.client.invocation import Invocation
from holdfast.client.outcome import Outcome
from holdfast.client.recorder import Answer, Recorder


def decide_before(
    recorder: Recorder, decision: Answer, invocation: Invocation
) -> Invocation | Outcome:
    """The call to make; or the outcome, if none is to be made."""
    match decision.get("action"):
        case "continue":
            return invocation
        case "modify":
            return _modify(recorder, decision, invocation)
        case "replace":
            function = _find_replacement(recorder, decision, invocation)
            return invocation.change(function, invocation.args, invocation.kwargs)
    return _replace_outcome(recorder, decision, invocation)


def decide_after(
    recorder: Recorder, decision: Answer, outcome: Outcome, invocation: Invocation
) -> Outcome:
    """How the call ends."""
    if decision.get("action") == "continue":
        return outcome
    return _replace_outcome(recorder, decision, invocation)


def _replace_outcome(recorder: Recorder, decision: Answer, invocation: Invocation) -> Outcome:
    match decision.get("action"):
        case "skip":
            return Outcome(_load_fake_result(recorder, decision))
        case "raise":
            return Outcome(error=_build_exception(recorder, decision, invocation))
    raise DebugProtocolError(f"the server wants an unknown action: {decision.get('action')!r}")


def _modify(recorder: Recorder, decision: Answer, invocation: Invocation) -> Invocation:
    """Replace arguments. A null, or a list that is too short, keeps what is there."""
    positional = decision.get("modified_args") or []
    named = decision.get("modified_kwargs") or {}
    if not isinstance(positional, list) or not isinstance(named, dict):
        raise DebugProtocolError("modified_args must be a list, and modified_kwargs an object")
    args = list(invocation.args)
    for index, item in enumerate(positional):
        if item is None:
            if index >= len(args):
                raise DebugProtocolError(f"there is no argument {index} to keep")
            continue
        value = recorder.load(item)
        if index < len(args):
            args[index] = value
        else:
            args.append(value)
    changed = {name: recorder.load(item) for name, item in named.items() if item is not None}
    return invocation.change(invocation.function, tuple(args), {**invocation.kwargs, **changed})


def _find_replacement(
    recorder: Recorder, decision: Answer, invocation: Invocation
) -> Callable[..., Any]:
    name = decision.get("function_name")
    if not isinstance(name, str) or not name:
        raise DebugProtocolError("a replace action names no function")
    function: Callable[..., Any] = recorder.functions.find(name, signature_of(invocation.function))
    return function


def _load_fake_result(recorder: Recorder, decision: Answer) -> Any:
    cid, data = decision.get("fake_result_cid"), decision.get("fake_result_data")
    if cid is None and data is None:
        return None  # the default, as it is for a function
    return recorder.load({"cid": cid, "data": data})


def _build_exception(recorder: Recorder, decision: Answer, invocation: Invocation) -> BaseException:
    cid, data = decision.get("exception_cid"), decision.get("exception_data")
    if cid is not None or data is not None:
        stored = recorder.load({"cid": cid, "data": data})
        if isinstance(stored, BaseException):
            return stored
        raise DebugProtocolError(f"the exception to raise is a {type(stored).__name__}")
    name = decision.get("exception_type")
    if not isinstance(name, str) or not name:
        raise DebugProtocolError("a raise action names no exception_type")
    cls = _find_exception_class(name, invocation)
    return _instantiate(cls, str(decision.get("exception_message") or ""))


def _find_exception_class(name: str, invocation: Invocation) -> type[BaseException]:
    """A builtin, a dotted path, or a name that is known where the call was made."""
    cls = _import_dotted(name) if "." in name else getattr(builtins, name, None)
    if cls is None:
        cls = invocation.find_name(name)
    if isinstance(cls, type) and issubclass(cls, BaseException):
        return cls
    raise DebugProtocolError(f"there is no exception {name!r} in the application")


def _import_dotted(path: str) -> Any:
    parts = path.split(".")
    for at in range(len(parts) - 1, 0, -1):
        module = ".".join(parts[:at])
        try:
            value: Any = sys.modules.get(module) or importlib.import_module(module)
        except Exception:  # no such module, or one that fails to load
            continue
        for part in parts[at:]:
            value = getattr(value, part, None)
        return value
    return None


def _instantiate(cls: type[BaseException], message: str) -> BaseException:
    try:
        return cls(message) if message else cls()
    except Exception:  # the application's constructor wants more than a message
        pass
    try:
        error = cls.__new__(cls)
        error.args = (message,)
    except Exception as problem:  # the application's __new__ may raise anything
        raise DebugProtocolError(
            f"a {cls.__name__} cannot be made from a message alone: {problem}"
        ) from None
    return error
