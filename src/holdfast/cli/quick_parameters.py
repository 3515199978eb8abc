"""Parameters that accept plain values by themselves.

Newer versions of Typer check every value with pydantic, whose import takes as long as all the rest
of a command. Values that need no such check are taken as they are. All others, and all that are
wrong, go the usual way, which has the error messages.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, get_args, get_origin

_USUAL: Any = object()


def quicken(command: Any) -> None:
    """Make the parameters of a command quick, and those of the commands in it."""
    usual: Callable[[Any], list[Any]] = command.get_params

    def get_params(context: Any) -> list[Any]:
        parameters = usual(context)
        for parameter in parameters:
            # Other versions of Typer have nothing to be quickened.
            if hasattr(parameter, "type_descriptor") and "process_value" not in vars(parameter):
                parameter.process_value = _build_process_value(parameter)
        return parameters

    command.get_params = get_params
    for one in getattr(command, "commands", {}).values():
        quicken(one)


def _build_process_value(parameter: Any) -> Callable[[Any, Any], Any]:
    usual: Callable[[Any, Any], Any] = parameter.process_value
    annotation = parameter.type_descriptor.annotation

    def process_value(context: Any, value: Any) -> Any:
        taken = _take(parameter, annotation, value)
        if taken is _USUAL or (parameter.required and not taken):
            return usual(context, value)
        return (
            taken if parameter.callback is None else parameter.callback(context, parameter, taken)
        )

    return process_value


def _take(parameter: Any, annotation: Any, value: Any) -> Any:
    """What a value stands for, if that is plain to see."""
    is_list = bool(parameter.multiple or parameter.nargs == -1)
    if value is None:
        return () if is_list else None
    if not is_list:
        return _take_one(parameter, annotation, value)
    if get_origin(annotation) is not list or isinstance(value, str):
        return _USUAL
    taken = [_take_one(parameter, get_args(annotation)[0], one) for one in value]
    return _USUAL if _USUAL in taken else taken


def _take_one(parameter: Any, annotation: Any, value: Any) -> Any:
    if annotation is str or annotation is bool:
        return value if type(value) is annotation else _USUAL
    if get_origin(annotation) is Literal:
        return value if value in get_args(annotation) else _USUAL
    if annotation is int or annotation is float:
        return _take_number(parameter, annotation, value)
    return _USUAL


def _take_number(parameter: Any, annotation: type[float], value: Any) -> Any:
    try:
        number = annotation(value)
    except ValueError:
        return _USUAL
    is_low = parameter.min is not None and number < parameter.min
    is_high = parameter.max is not None and number > parameter.max
    return _USUAL if is_low or is_high else number
