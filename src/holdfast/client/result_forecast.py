"""Knows before a call is made that its result cannot be stored, where that can be known.

Then the error comes before the side effect. It is known in three cases: the function is a class
whose instances can never be pickled, its annotation says that it returns such an instance, or the
last result of this very function could not be stored, for a reason that lasts.
"""

from __future__ import annotations

import contextlib
import copyreg
import pickle
import types
from typing import Any

from holdfast.client import storage_refusals
from holdfast.client.exceptions import DebugSerializationError
from holdfast.client.value_pickler import has_reduction_of_dill
from holdfast.probe import introspection, lazy_values, self_changes

_MAX_FUNCTIONS = 10_000
_REDUCERS = ("__reduce_ex__", "__reduce__", "__getstate__", "__getnewargs_ex__", "__getnewargs__")
_USED_UP = ("__next__", "__anext__", "__await__")
_POINTER = tuple.__itemsize__
# What picklers write in ways of their own.
_WRITTEN = (
    *(list, dict, int, str, bytes, float, complex, tuple, set, frozenset, BaseException),
    *(type, types.ModuleType),
)
_LASTING = (TypeError, pickle.PicklingError, NotImplementedError)


class ResultForecast:
    def __init__(self) -> None:
        self._expected: dict[Any, str | None] = {}  # what cannot be stored, by function
        self._refused: dict[Any, str] = {}  # the type of the last result, if it was refused

    def check(self, function: Any, name: str) -> None:
        """Raise if the result of a call is known to be one that cannot be stored."""
        key = _key_of(function)
        if key is None:
            return
        try:
            expected = self._expected[key]
        except KeyError:
            expected = self._expect(function, key)
        except Exception:  # the hash of a class is its metaclass's
            return
        if expected is not None:
            raise storage_refusals.build_forecast(name, expected)
        if self._refused and key in self._refused:
            reason = f"its last result was a {self._refused[key]}, which cannot be stored"
            raise storage_refusals.build_forecast(name, reason)

    def note(self, function: Any, refused: DebugSerializationError | None) -> None:
        """How it went with a result: refused, or stored."""
        if refused is None and not self._refused:
            return
        key = _key_of(function)
        if key is None:
            return
        with contextlib.suppress(Exception):  # the hash of a class is its metaclass's
            if refused is None:
                self._refused.pop(key, None)
            elif isinstance(refused.cause, _LASTING):
                if len(self._refused) >= _MAX_FUNCTIONS:
                    self._refused.clear()
                self._refused[key] = refused.value_type

    def _expect(self, function: Any, key: Any) -> str | None:
        if len(self._expected) >= _MAX_FUNCTIONS:
            self._expected.clear()
        expected = self._expected[key] = _expect(function)
        return expected


def _key_of(function: Any) -> Any:
    """The same for a function and for all methods that are bound to it; None: it has none.

    A key is no object of the application's, which would be kept alive, or have no hash.
    """
    function = _unbind(function)
    kind = type(function)
    if kind is types.FunctionType:
        return function.__code__
    if kind is types.BuiltinFunctionType or kind is types.MethodWrapperType:
        owner = function.__self__
        is_shared = issubclass(type(owner), (type, types.ModuleType, types.NoneType))
        return function if is_shared else (type(owner), function.__name__)
    return function if issubclass(kind, type) else None


def _unbind(function: Any) -> Any:
    """The function of a method, and of an object that can be called."""
    kind = type(function)
    if kind is types.MethodType:
        return function.__func__
    if kind is types.FunctionType or issubclass(kind, type):
        return function
    call = introspection.find_in_mro(kind, "__call__")[1]
    return call if type(call) is types.FunctionType else function


def _expect(function: Any) -> str | None:
    if issubclass(type(function), type):
        is_plain = introspection.find_in_mro(type(function), "__call__")[0] is type
        new = introspection.find_in_mro(function, "__new__")[1]
        if is_plain and type(new) is not staticmethod and is_never_storable(function):
            return f"it makes a {function.__name__}, which can never be stored"
        return None
    function = _unbind(function)
    if type(function) is not types.FunctionType:
        return None
    annotated = _find_class(function, function.__annotations__.get("return"))
    if annotated is not None and is_never_storable(annotated):
        return f"it is annotated to return a {annotated.__name__}, which can never be stored"
    return None


def _find_class(function: types.FunctionType, annotation: Any) -> type | None:
    """The class that an annotation names; nothing is evaluated."""
    if type(annotation) is str:
        names: Any = function.__globals__
        for part in annotation.split("."):
            annotation = names.get(part)
            names = vars(annotation) if type(annotation) is types.ModuleType else {}
    return annotation if issubclass(type(annotation), type) else None


def is_never_storable(cls: type) -> bool:
    """Whether pickling refuses all instances. False is no proof that it does not."""
    is_used_up = any(introspection.find_in_mro(cls, name)[0] for name in _USED_UP)
    if is_used_up or lazy_values.find_laziness(cls) or cls in copyreg.dispatch_table:
        return False  # a marker stands for it, or it has a reduction
    for name in _REDUCERS:
        owner, member = introspection.find_in_mro(cls, name)
        if owner is object or owner is None or (owner is not cls and member is None):
            continue
        if type(member) is types.FunctionType and self_changes.always_raises(member.__code__):
            return not has_reduction_of_dill(cls)
        return False
    return _has_hidden_state(cls) and not has_reduction_of_dill(cls)


def _has_hidden_state(cls: type) -> bool:
    """Whether there is more in an instance than its attributes, which is what pickle asks."""
    if issubclass(cls, _WRITTEN):
        return False
    size = object.__basicsize__
    size += _POINTER * (cls.__dictoffset__ != 0) + _POINTER * (cls.__weakrefoffset__ != 0)
    slots = sum(
        type(member) is types.MemberDescriptorType
        for base in cls.__mro__
        if base.__flags__ & introspection.HEAP_TYPE
        for member in vars(base).values()
    )
    return cls.__basicsize__ > size + _POINTER * slots
