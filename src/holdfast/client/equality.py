"""One key for equal values, in whatever process and order they came to be.

A content id names bytes, and equal values may have different bytes: a set is written in the order
of its hashes, a dict in the order of insertion, a part that is used twice is written once. The key
is made of the value instead, so that it can be searched for:

- dicts and sets count without their order, and a shared part as if it were there twice;
- types count: `1`, `1.0` and `True` have three keys, a list and a tuple of the same two;
- an object is its class by name, and its state (`__reduce_ex__`, as pickle sees it);
- a function or class is its name; a cycle is the way back to where it began.

Values of more than `MAX` parts, and those that cannot be taken apart, have no key.
"""

from __future__ import annotations

import hashlib
import types
from collections.abc import Iterable
from typing import Any

from holdfast.client.proxy_base import target_of, without_interception

MAX = 10_000


class _NoKey(Exception):
    """It is too large, or cannot be taken apart."""


def key(value: Any, most: int = MAX) -> str | None:
    """The key, as 64 hexadecimal digits; None when there is none."""
    with without_interception():
        try:
            return _Walk(most).of(value).hex()
        except (_NoKey, RecursionError):
            return None


class _Walk:
    def __init__(self, most: int) -> None:
        self._left = most
        self._open: list[int] = []

    def of(self, value: Any) -> bytes:
        self._left -= 1
        if self._left < 0:
            raise _NoKey
        value = target_of(value)
        cls = type(value)
        if value is None or cls in (bool, int, str, bytes, complex):
            return _hashed(cls.__name__, [repr(value).encode("utf-8", "surrogatepass")])
        if cls is float:
            return _hashed("float", [value.hex().encode()])
        if cls is types.FunctionType or cls is types.BuiltinFunctionType or issubclass(cls, type):
            return _hashed("name", [_name(value)])
        if id(value) in self._open:
            return _hashed("back", [b"%d" % (len(self._open) - self._open.index(id(value)))])
        self._open.append(id(value))
        try:
            return self._inside(cls, value)
        finally:
            self._open.pop()

    def _inside(self, cls: type, value: Any) -> bytes:
        if cls is list or cls is tuple:
            return _hashed(cls.__name__, [self.of(each) for each in value])
        if cls is dict:
            return _hashed("dict", self._entries(value.items()))
        if cls is set or cls is frozenset:
            return _hashed(cls.__name__, sorted(self.of(each) for each in value))
        return self._object(value)

    def _entries(self, entries: Iterable[tuple[Any, Any]]) -> list[bytes]:
        return sorted(self.of(name) + self.of(each) for name, each in entries)

    def _object(self, value: Any) -> bytes:
        try:
            parts = value.__reduce_ex__(4)
        except Exception:
            raise _NoKey from None
        if isinstance(parts, str):
            return _hashed("name", [parts.encode(), _name(type(value))])
        make, args, state, items, entries = (*parts, None, None, None)[:5]
        found = [self.of(make), self.of(args), self.of(state)]
        found.append(_hashed("items", [self.of(each) for each in items or ()]))
        return _hashed("object", [*found, *self._entries(entries or ())])


def _name(thing: Any) -> bytes:
    return f"{getattr(thing, '__module__', '')}:{getattr(thing, '__qualname__', '')}".encode()


def _hashed(kind: str, parts: Iterable[bytes]) -> bytes:
    digest = hashlib.sha256(kind.encode())
    for part in parts:
        digest.update(b"%d:" % len(part))
        digest.update(part)
    return digest.digest()
