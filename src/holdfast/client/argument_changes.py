"""Changes the arguments of a call, by position and by parameter name."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from holdfast.client.exceptions import DebugProtocolError, DecisionRefused
from holdfast.client.function_registry import find_misfit, signature_of
from holdfast.client.invocation import Invocation
from holdfast.client.value_preview import clean
from holdfast.wire.unknown_names import describe_known

Load = Callable[[Any], Any]
Kwargs = dict[str, Any]

_ONLY, _BOTH = inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD
_NAMED = inspect.Parameter.KEYWORD_ONLY
_REST, _OPTIONS = inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD


def change_arguments(
    invocation: Invocation, positional: Sequence[Any], named: Mapping[str, Any], load: Load
) -> tuple[tuple[Any, ...], Kwargs]:
    """The arguments with these changes. A null, or a list that is too short, keeps what is there.

    A name is that of a parameter, however its argument was passed.
    """
    args = list(invocation.args)
    for index, item in enumerate(positional):
        if item is None:
            if index >= len(args):
                raise DebugProtocolError(f"there is no argument {index} to keep")
        elif index < len(args):
            args[index] = load(item)
        else:
            args.append(load(item))
    kwargs = dict(invocation.kwargs)
    signature = _fitting_signature(invocation)
    values = {name: load(item) for name, item in named.items() if item is not None}
    if signature is None:
        return tuple(args), {**kwargs, **values}
    changes = _Changes(invocation.name, signature, args, kwargs)
    for name, value in values.items():
        changes.set(name, value)
    problem = find_misfit(signature, changes.args, changes.kwargs)
    if problem is not None:
        raise DecisionRefused(
            f"{invocation.name} does not take these arguments: {problem}",
            field="modified_args" if positional else "modified_kwargs",
            hint=f"It takes {clean(str(signature))}.",
        )
    return tuple(changes.args), changes.kwargs


def _fitting_signature(invocation: Invocation) -> inspect.Signature | None:
    """The signature of the function, unless it does not describe the call that is made.

    A decorator may say that its function takes other arguments than it does.
    """
    signature = signature_of(invocation.function)
    if signature is None or find_misfit(signature, invocation.args, invocation.kwargs) is not None:
        return None
    return signature


class _Changes:
    """The arguments while they are changed."""

    def __init__(
        self, function: str, signature: inspect.Signature, args: list[Any], kwargs: Kwargs
    ) -> None:
        self.args = args
        self.kwargs = kwargs
        self._function = function
        self._parameters = signature.parameters
        self._places = [
            parameter
            for parameter in signature.parameters.values()
            if parameter.kind in (_ONLY, _BOTH)
        ]

    def set(self, name: str, value: Any) -> None:
        parameter = self._parameters.get(name)
        if parameter is None:
            self._set_option(name, value)
        elif parameter.kind is _REST:
            self._set_rest(name, value)
        elif parameter.kind is _OPTIONS:
            self._set_options(name, value)
        elif parameter in self._places:
            self._set_at(self._places.index(parameter), parameter, value)
        else:
            self.kwargs[name] = value

    def _set_at(self, index: int, parameter: inspect.Parameter, value: Any) -> None:
        if index < len(self.args):
            self.args[index] = value
        elif parameter.kind is _BOTH:
            self.kwargs[parameter.name] = value
        else:
            self._fill_places(index)
            self.args.append(value)

    def _fill_places(self, count: int) -> None:
        """Pass the first `count` parameters by position."""
        for parameter in self._places[len(self.args) : count]:
            if parameter.kind is _BOTH and parameter.name in self.kwargs:
                self.args.append(self.kwargs.pop(parameter.name))
            elif parameter.default is not parameter.empty:
                self.args.append(parameter.default)
            else:
                raise self._refuse(parameter.name, "it has no value, and no default")

    def _set_rest(self, name: str, value: Any) -> None:
        if not isinstance(value, (list, tuple)):
            raise self._refuse(name, "it takes a list of the further positional arguments")
        self._fill_places(len(self._places))
        self.args[len(self._places) :] = value

    def _set_options(self, name: str, value: Any) -> None:
        if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
            raise self._refuse(name, "it takes an object of the further keyword arguments")
        for extra in [key for key in self.kwargs if not self._takes_by_name(key)]:
            del self.kwargs[extra]
        self.kwargs.update(value)

    def _takes_by_name(self, name: str) -> bool:
        parameter = self._parameters.get(name)
        return parameter is not None and parameter.kind in (_BOTH, _NAMED)

    def _set_option(self, name: str, value: Any) -> None:
        """Set a keyword argument that is no parameter."""
        if not any(parameter.kind is _OPTIONS for parameter in self._parameters.values()):
            known = list(self._parameters)
            raise DecisionRefused(
                f"{self._function} has no parameter {name!r}; {describe_known(name, known)}",
                field=f"modified_kwargs.{name}",
                choices=known,
            )
        self.kwargs[name] = value

    def _refuse(self, name: str, why: str) -> DecisionRefused:
        return DecisionRefused(
            f"the parameter {name} of {self._function} cannot be changed so: {why}",
            field=f"modified_kwargs.{name}",
        )
