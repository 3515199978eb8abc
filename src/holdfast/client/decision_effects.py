"""What a decision means for the call that it is about."""

from __future__ import annotations

import builtins
import importlib
import sys
from collections.abc import Callable
from typing import Any

from holdfast.client.exceptions import DebugProtocolError
from holdfast.client.recorder import Recorder, signature_of


class Outcome:
    """How a call ended: with a value, or with an exception."""

    __slots__ = ("error", "nanoseconds", "value")

    def __init__(
        self, value: Any = None, error: BaseException | None = None, nanoseconds: int | None = None
    ) -> None:
        self.value = value
        self.error = error
        self.nanoseconds = nanoseconds

    def deliver(self) -> Any:
        if self.error is None:
            return self.value
        error, self.error = self.error, None
        try:
            raise error
        finally:
            del error  # its traceback holds this frame


class Plan:
    """What to call, and with what."""

    __slots__ = ("args", "function", "kwargs")

    def __init__(
        self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        self.function = function
        self.args = args
        self.kwargs = kwargs


def before(
    recorder: Recorder, decision: dict[str, Any], plan: Plan, names: Names
) -> Plan | Outcome:
    """What to do instead of, or as, the call that was planned."""
    match decision.get("action"):
        case "continue":
            return plan
        case "modify":
            return _modified(recorder, decision, plan)
        case "replace":
            return Plan(_replacement(recorder, decision, plan), plan.args, plan.kwargs)
        case "skip":
            return Outcome(_fake_result(recorder, decision))
        case "raise":
            return Outcome(error=_exception(recorder, decision, names))
    raise _unknown(decision)


def after(recorder: Recorder, decision: dict[str, Any], outcome: Outcome, names: Names) -> Outcome:
    """How the call ends after all."""
    match decision.get("action"):
        case "continue":
            return outcome
        case "skip":
            return Outcome(_fake_result(recorder, decision))
        case "raise":
            return Outcome(error=_exception(recorder, decision, names))
    raise _unknown(decision)


Names = Callable[[str], Any]


def _unknown(decision: dict[str, Any]) -> DebugProtocolError:
    return DebugProtocolError(f"the server wants an unknown action: {decision.get('action')!r}")


def _modified(recorder: Recorder, decision: dict[str, Any], plan: Plan) -> Plan:
    """The list may be short or have nulls, which keep what is there; keyword arguments merge."""
    given = decision.get("modified_args") or []
    named = decision.get("modified_kwargs") or {}
    if not isinstance(given, list) or not isinstance(named, dict):
        raise DebugProtocolError("modified_args must be a list, and modified_kwargs an object")
    args = list(plan.args)
    for index, item in enumerate(given):
        if item is None:
            if index >= len(args):
                raise DebugProtocolError(f"there is no argument {index} to keep")
            continue
        value = recorder.value(item)
        if index < len(args):
            args[index] = value
        else:
            args.append(value)
    changed = {name: recorder.value(item) for name, item in named.items() if item is not None}
    return Plan(plan.function, tuple(args), {**plan.kwargs, **changed})


def _replacement(recorder: Recorder, decision: dict[str, Any], plan: Plan) -> Callable[..., Any]:
    name = decision.get("function_name")
    if not isinstance(name, str) or not name:
        raise DebugProtocolError("a replace action names no function")
    found: Callable[..., Any] = recorder.function(name, signature_of(plan.function))
    return found


def _fake_result(recorder: Recorder, decision: dict[str, Any]) -> Any:
    cid, data = decision.get("fake_result_cid"), decision.get("fake_result_data")
    if cid is None and data is None:
        return None  # nothing said is None, as it is for a function
    return recorder.value({"cid": cid, "data": data})


def _exception(recorder: Recorder, decision: dict[str, Any], names: Names) -> BaseException:
    cid, data = decision.get("exception_cid"), decision.get("exception_data")
    if cid is not None or data is not None:
        stored = recorder.value({"cid": cid, "data": data})
        if isinstance(stored, BaseException):
            return stored
        raise DebugProtocolError(f"the exception to raise is a {type(stored).__name__}")
    name = decision.get("exception_type")
    if not isinstance(name, str) or not name:
        raise DebugProtocolError("a raise action names no exception_type")
    return _made(exception_class(name, names), str(decision.get("exception_message") or ""))


def exception_class(name: str, names: Names) -> type[BaseException]:
    """A builtin, a dotted path, or a name that is known where the call was made."""
    found = _dotted(name) if "." in name else getattr(builtins, name, None)
    if found is None:
        found = names(name)
    if isinstance(found, type) and issubclass(found, BaseException):
        return found
    raise DebugProtocolError(f"there is no exception {name!r} in the application")


def _dotted(path: str) -> Any:
    parts = path.split(".")
    for at in range(len(parts) - 1, 0, -1):
        module = ".".join(parts[:at])
        try:
            found: Any = sys.modules.get(module) or importlib.import_module(module)
        except Exception:  # no such module, or one that fails to load
            continue
        for part in parts[at:]:
            found = getattr(found, part, None)
        return found
    return None


def _made(cls: type[BaseException], message: str) -> BaseException:
    try:
        return cls(message) if message else cls()
    except Exception:  # its constructor wants more than a message
        pass
    try:
        made = cls.__new__(cls)
        made.args = (message,)
    except Exception as problem:
        raise DebugProtocolError(
            f"a {cls.__name__} cannot be made from a message alone: {problem}"
        ) from None
    return made
