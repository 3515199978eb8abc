"""The functions of the application that may replace others, and what is known about functions."""

from __future__ import annotations

import ast
import contextlib
import inspect
import types
from collections.abc import Mapping, Sequence
from typing import Any

from holdfast.client.exceptions import DecisionRefused
from holdfast.client.value_preview import build_preview, clean
from holdfast.wire.unknown_names import find_nearest

_MAX_SIGNATURES = 10_000
_MAX_LITERAL = 1000  # characters of a default value that goes as a literal
_NO_REPLACEMENT = (
    "A function that was wrapped itself, or called by debug_call, can replace another; "
    "none of them takes these arguments."
)
_LITERAL_TYPES = (tuple, bytes, set, list, dict, complex)  # those that JSON does not have


class Description:
    """The signature of a function, as text and by parameter, in JSON."""

    __slots__ = ("members", "parameters", "sent_to", "signature")

    def __init__(self, signature: inspect.Signature | None) -> None:
        self.signature = None if signature is None else clean(str(signature))
        self.parameters = None if signature is None else describe_parameters(signature)
        self.sent_to: str | None = None  # the session that knows the parameters
        self.members: dict[tuple[str | None, ...], str] = {}  # of requests, by how it is called


def _build_key(name: str, function: Any) -> tuple[Any, ...]:
    """What tells functions apart.

    Each access to a method makes an object of its own, and so does each run of a `def` or `lambda`.
    All that a decorator makes have the same code, but the names of what they stand for.
    """
    kind = type(function)
    if kind is types.FunctionType:
        code, module = id(function.__code__), str(function.__module__)
        return name, code, module, function.__qualname__
    if kind is types.MethodType:
        return name, id(function.__func__)
    if kind is types.MethodWrapperType or (
        kind is types.BuiltinMethodType and type(function.__self__) is not types.ModuleType
    ):
        return name, kind, type(function.__self__), function.__name__
    return name, id(function)


class FunctionRegistry:
    def __init__(self) -> None:
        self._functions: dict[str, list[tuple[str | None, Any]]] = {}
        self._known: dict[tuple[Any, ...], int] = {}  # places in the lists of `_functions`
        self._descriptions: dict[tuple[Any, ...], Description] = {}

    def has(self, name: str, function: Any) -> bool:
        """Whether it is registered. A method is one function, whatever object it is bound to, and
        so are functions of the same code, whatever is in their closures.

        The one that was called last counts when it replaces another function.
        """
        place = self._known.get(_build_key(name, function))
        if place is None:
            return False
        known = self._functions[name]
        if known[place][1] is not function:
            known[place] = (known[place][0], function)
        return True

    def add(self, name: str, function: Any, signature: str | None) -> None:
        known = self._functions.setdefault(name, [])
        self._known[_build_key(name, function)] = len(known)
        known.append((signature, function))

    def find_replacement(
        self, name: str, called: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> Any:
        """The function registered last under a name that takes these arguments.

        One with the signature of the function that is called comes first.
        """
        known = self._functions.get(name, [])
        signature = describe_function(called).signature
        same = [function for other, function in known if other == signature]
        if same:
            return same[-1]
        fitting = [function for _, function in known if not _find_misfit(function, args, kwargs)]
        if fitting:
            return fitting[-1]
        possible = [
            other
            for other, entries in self._functions.items()
            if any(_find_misfit(entry[1], args, kwargs) is None for entry in entries)
        ]
        raise _refuse_replacement(name, known, args, kwargs, possible)

    def describe(self, function: Any, target_type: type, name: str) -> Description:
        """Its signature, determined once for each method of a type and each function."""
        key = (target_type, name, getattr(function, "__code__", None))
        known = self._descriptions.get(key)
        if known is None:
            if len(self._descriptions) > _MAX_SIGNATURES:
                self._descriptions.clear()
            known = self._descriptions[key] = describe_function(function)
        return known


def _find_misfit(function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> str | None:
    """Why a function does not take these arguments; None if it does, or may."""
    signature = signature_of(function)
    return None if signature is None else find_misfit(signature, args, kwargs)


def find_misfit(
    signature: inspect.Signature, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> str | None:
    """Why a function of this signature does not take these arguments; None if it does."""
    try:
        signature.bind(*args, **kwargs)
    except TypeError as problem:
        return clean(str(problem))
    return None


def _refuse_replacement(
    name: str,
    known: Sequence[tuple[str | None, Any]],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    possible: Sequence[str],
) -> DecisionRefused:
    if known:
        signature, function = known[-1]
        misfit = _find_misfit(function, args, kwargs)
        message = f"{name}{signature} does not take the arguments of this call: {misfit}"
    else:
        nearest = find_nearest(name, possible)
        meant = f"; did you mean {nearest}?" if nearest else ""
        message = f"no function {name!r} is registered to replace this one{meant}"
    names = ", ".join(possible)
    return DecisionRefused(
        message,
        field="function_name",
        hint=f"These take its arguments: {names}." if names else _NO_REPLACEMENT,
        choices=possible,
    )


def describe_function(function: Any) -> Description:
    signature = signature_of(function)
    try:
        return Description(signature)
    except Exception:  # a default's own repr may raise anything
        return Description(None)


def signature_of(function: Any) -> inspect.Signature | None:
    """Without `self`. None for builtins that have no signature."""
    try:
        return inspect.signature(function)
    except Exception:  # a __signature__ may be anything
        return None


def describe_parameters(signature: inspect.Signature) -> list[dict[str, Any]]:
    """Name, kind and the preview of the default value of each parameter."""
    described = []
    for parameter in signature.parameters.values():
        fields: dict[str, Any] = {
            "name": clean(parameter.name),
            "kind": parameter.kind.name.lower(),
        }
        if parameter.default is not parameter.empty:
            fields["default"] = _describe_default(parameter.default)
        described.append(fields)
    return described


def _describe_default(value: Any) -> dict[str, Any]:
    preview = build_preview(value)
    if "json" not in preview and type(value) in _LITERAL_TYPES:
        text = repr(value)
        with contextlib.suppress(ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
            if len(text) <= _MAX_LITERAL and ast.literal_eval(text) == value:
                preview["literal"] = clean(text)
    return preview


def describe_origin(function: Any) -> dict[str, str | int | None]:
    """Where it was defined, as far as it has that information."""
    code = getattr(function, "__code__", None)
    origin: dict[str, str | int | None] = {
        "qualname": clean_text(getattr(function, "__qualname__", None)),
        "module": clean_text(getattr(function, "__module__", None)),
    }
    if isinstance(code, types.CodeType):
        origin.update(file=clean(code.co_filename), line=code.co_firstlineno)
    return origin


def clean_text(value: Any) -> str | None:
    return clean(value) if isinstance(value, str) else None
