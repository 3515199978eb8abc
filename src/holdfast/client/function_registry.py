"""The functions of the application that may replace others, and what is known about functions."""

from __future__ import annotations

import inspect
import types
from typing import Any

from holdfast.client.exceptions import DebugProtocolError
from holdfast.client.value_preview import clean

_MAX_SIGNATURES = 10_000


class FunctionRegistry:
    def __init__(self) -> None:
        self._functions: dict[str, list[tuple[str | None, Any]]] = {}
        self._known: set[tuple[str, int]] = set()
        self._signatures: dict[tuple[Any, ...], str | None] = {}

    def has(self, name: str, function: Any) -> bool:
        return (name, id(function)) in self._known

    def add(self, name: str, function: Any, signature: str | None) -> None:
        self._functions.setdefault(name, []).append((signature, function))
        self._known.add((name, id(function)))

    def find(self, name: str, signature: str | None) -> Any:
        """The function registered last under a name; one of the same signature first."""
        known = self._functions.get(name)
        if not known:
            raise DebugProtocolError(f"no function {name!r} is registered to replace this one")
        same = [function for other, function in known if other == signature]
        return same[-1] if same else known[-1][1]

    def signature(self, function: Any, target_type: type, name: str) -> str | None:
        """Its signature, determined once for each method of a type and each function."""
        key = (target_type, name, getattr(function, "__code__", None))
        if key not in self._signatures:
            if len(self._signatures) > _MAX_SIGNATURES:
                self._signatures.clear()
            self._signatures[key] = signature_of(function)
        return self._signatures[key]


def signature_of(function: Any) -> str | None:
    try:
        return clean(str(inspect.signature(function)))
    except Exception:  # builtins have none, and a __signature__ may be anything
        return None


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
