"""Says why a value cannot be stored: which one, where in it, and how the application may go on."""

from __future__ import annotations

import inspect
from typing import Any

from holdfast.client.exceptions import DebugSerializationError
from holdfast.client.value_paths import describe_path
from holdfast.client.value_pickler import NotPicklable
from holdfast.client.value_preview import clean

ON_UNPICKLABLE_VARIABLE = "HOLDFAST_ON_UNPICKLABLE"

_ADVICE = (
    'To let the application go on, use with_debug(obj, on_unpicklable="placeholder"), '
    'configure_debug(on_unpicklable="placeholder") or '
    f"{ON_UNPICKLABLE_VARIABLE}=placeholder in the environment"
)
_MAX_MESSAGE = 300  # characters of the reason that pickle gives


def describe_error(problem: BaseException) -> str:
    try:
        text = str(problem)
    except Exception:  # the exception's own __str__ fails
        text = ""
    name = type(problem).__name__
    return f"{name}: {text[:_MAX_MESSAGE]}" if text else name


def build_error(value: Any, problem: BaseException) -> DebugSerializationError:
    """The error for a value of which nobody has said yet what it is to the call."""
    is_known = isinstance(problem, NotPicklable)
    cause = problem.cause if isinstance(problem, NotPicklable) else problem
    objects = problem.objects if isinstance(problem, NotPicklable) else [value]
    error = DebugSerializationError(
        reason=describe_error(cause),
        value_type=_type_name(value),
        part_type=_type_name(objects[-1]) if is_known else _type_name(value),
    )
    error.cause, error.objects = cause, objects
    _write(error, f"a {type(value).__name__}", "value")
    return error


def name_argument(
    error: DebugSerializationError, function: Any, function_name: str, key: int | str
) -> DebugSerializationError:
    """The error of an argument: by the name of its parameter, or by its position."""
    name = key if isinstance(key, str) else _find_parameter(function, key)
    return _place(error, function_name, name, f"the argument {name}")


def build_forecast(function_name: str, reason: str) -> DebugSerializationError:
    """The error of a result that is known before the call is made."""
    name = clean(function_name)
    error = DebugSerializationError(
        f"{name}: the call has not been made, because its result cannot be stored: "
        f"{clean(reason)}. {_ADVICE}"
    )
    error.function, error.argument, error.path, error.reason = name, "result", "result", reason
    return error


def name_result(error: DebugSerializationError, function_name: str) -> DebugSerializationError:
    """The error of a result: the call has been made."""
    return _place(error, function_name, "result", "the call has been made; its result")


def name_target(error: DebugSerializationError, function_name: str) -> DebugSerializationError:
    """The error of the object that a method is called on, or of a function that is called."""
    return _place(error, function_name, "target", "the object that it is called on")


def name_wrapped(error: DebugSerializationError) -> DebugSerializationError:
    """The error of an object that is to be wrapped."""
    return _place(error, "with_debug", "target", "the object")


def _place(
    error: DebugSerializationError, function: str, argument: str, what: str
) -> DebugSerializationError:
    error.function, error.argument = clean(function), clean(argument)
    _write(error, f"{error.function}: {clean(what)}, a {error.value_type},", error.argument)
    return error


def _write(error: DebugSerializationError, what: str, name: str) -> None:
    error.path = describe_path(name, error.objects)
    where = "" if len(error.objects) < 2 else f"{error.path} is a {error.part_type}: "
    error.args = (f"{what} cannot be stored: {where}{error.reason}. {_ADVICE}",)


def _find_parameter(function: Any, position: int) -> str:
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError, RecursionError):
        return f"args[{position}]"
    for place, parameter in enumerate(parameters):
        if parameter.kind is parameter.VAR_POSITIONAL:
            return f"{parameter.name}[{position - place}]"
        if parameter.kind is parameter.KEYWORD_ONLY or parameter.kind is parameter.VAR_KEYWORD:
            break
        if place == position:
            return parameter.name
    return f"args[{position}]"


def _type_name(value: Any) -> str:
    cls = type(value)
    module, name = cls.__module__, clean(cls.__qualname__.rpartition("<locals>.")[2])
    return name if module in ("builtins", "__main__") else f"{clean(str(module))}.{name}"
